// The scores of rows while one weight moves at a time.
#include <cmath>

#include "bindings/bindings.hpp"
#include "bindings/checks.hpp"
#include "bindings/in_use.hpp"
#include "bindings/overlap.hpp"
#include "bindings/released.hpp"
#include "search/score_state.hpp"

namespace lessnaive {
namespace {

void require_columns(const Evidence& evidence, const Vector& weights) {
    require(length(weights) == evidence.columns(), "the weights have the wrong shape");
    Memory().read(weights).require_apart();
}

void require_move(const ScoreState& state, int64_t column, double delta) {
    require(column >= 0 && column < state.evidence().columns(), "there is no such column");
    require(std::isfinite(delta), "a move must be finite");
}

void make_state(ScoreState* self, const Evidence& evidence, const Vector& weights) {
    require_columns(evidence, weights);
    const Released release;
    new (self) ScoreState(evidence, weights.data());
}

double loss_binding(const ScoreState& state) {
    const InUse held(&state, InUse::How::read);
    return state.loss();
}

double loss_if_binding(const ScoreState& state, int64_t column, double delta) {
    require_move(state, column, delta);
    const InUse held(&state, InUse::How::read);
    const Released release;
    return state.loss_if(static_cast<int>(column), delta);
}

void apply_binding(ScoreState& state, int64_t column, double delta) {
    require_move(state, column, delta);
    const InUse held(&state, InUse::How::change);
    const Released release;
    state.apply(static_cast<int>(column), delta);
}

void reset_binding(ScoreState& state, const Vector& weights) {
    require_columns(state.evidence(), weights);
    const InUse held(&state, InUse::How::change);
    const Released release;
    state.reset(weights.data());
}

}  // namespace

void bind_state(nb::module_& m) {
    nb::class_<ScoreState>(m, "ScoreState",
                           "The scores of packed rows under one weight per column, of which one "
                           "moves at a time.")
        .def("__init__", &make_state, nb::arg("evidence"), array_arg("weights"),
             nb::keep_alive<1, 2>())
        .def_prop_ro("nbytes", &ScoreState::bytes)
        .def("loss", &loss_binding, "Sum of the log loss.")
        .def("loss_if", &loss_if_binding, nb::arg("column"), nb::arg("delta"),
             "The loss if the weight of a column grew by delta.")
        .def("apply", &apply_binding, nb::arg("column"), nb::arg("delta"),
             "Let the weight of a column grow by delta.")
        .def("reset", &reset_binding, array_arg("weights"),
             "Take other weights, without what rounding has left of the moves so far.");
}

}  // namespace lessnaive
