// Additive models: rows of codes, knots and numbers, the minimum of their loss, gains of pairs.
#include <algorithm>
#include <cmath>
#include <utility>

#include "additive/additive_newton.hpp"
#include "additive/additive_rows.hpp"
#include "additive/pair_gains.hpp"
#include "base/padding.hpp"
#include "bindings/bindings.hpp"
#include "bindings/checks.hpp"
#include "bindings/in_use.hpp"
#include "bindings/overlap.hpp"
#include "bindings/released.hpp"

namespace lessnaive {
namespace {

using Column1 = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Labels = ArrayOf<const int32_t, 1>;
using Bytes = ArrayOf<const uint8_t, 1>;
using Places = ArrayOf<const int32_t, 2>;
using Runs = ArrayOf<const int64_t, 2>;

// More parameters than arrays of them have room for.
constexpr int64_t kMostParameters = INT32_MAX;

int width_of(const Column1& codes) {
    const nb::dlpack::dtype type = codes.dtype();
    if (type == nb::dtype<uint8_t>()) return 1;
    if (type == nb::dtype<uint16_t>()) return 2;
    require(type == nb::dtype<uint32_t>(), "codes must be unsigned integers of 8, 16 or 32 bits");
    return 4;
}

int64_t largest_code(const Column1& codes) {
    const auto largest = [&](auto type) {
        using Code = decltype(type);
        const Code* data = static_cast<const Code*>(codes.data());
        int64_t out = 0;
        for (size_t i = 0; i < codes.size(); ++i) out = std::max(out, int64_t{data[i]});
        return out;
    };
    switch (width_of(codes)) {
        case 1:
            return largest(uint8_t{});
        case 2:
            return largest(uint16_t{});
        default:
            return largest(uint32_t{});
    }
}

void make_rows(AdditiveRows* self, const std::vector<int>& kinds, const std::vector<int64_t>& sizes,
               const std::vector<Column1>& codes, const std::vector<Vector>& values,
               const Labels& labels, const std::optional<Weights>& weights, int classes) {
    const size_t rows = labels.shape(0);
    require(classes_of(classes) > 1, "there must be two classes or more");
    Memory().read(codes).read(values).read(labels).read(weights).require_apart();
    int64_t parameters = 1;
    require(kinds.size() == sizes.size() && kinds.size() == codes.size() &&
                kinds.size() == values.size(),
            "kinds, sizes, codes and values differ in number");
    std::vector<AdditiveBlock> blocks;
    for (size_t b = 0; b < kinds.size(); ++b) {
        require(0 <= kinds[b] && kinds[b] <= 2, "a block is coded (0), a hat (1) or a line (2)");
        const auto kind = static_cast<AdditiveBlock::Kind>(kinds[b]);
        const bool has_codes = kind != AdditiveBlock::line;
        const bool has_values = kind != AdditiveBlock::coded;
        require(codes[b].shape(0) == (has_codes ? rows : 0), "codes differ in length");
        require(values[b].shape(0) == (has_values ? rows : 0), "values differ in length");
        require(sizes[b] > 0 && (has_codes || sizes[b] == 1), "a block has the wrong size");
        require(sizes[b] <= kMostParameters - parameters, "there are too many parameters");
        parameters += sizes[b];
        if (has_codes)
            require(rows == 0 || largest_code(codes[b]) + (kind == AdditiveBlock::hat) < sizes[b],
                    "a code is too large");
        blocks.push_back({kind, sizes[b], has_codes ? codes[b].data() : nullptr, width_of(codes[b]),
                          has_values ? values[b].data() : nullptr});
    }
    for (size_t i = 0; i < rows; ++i)
        require(0 <= labels.data()[i] && labels.data()[i] < classes, "a label is no class");
    const double* w = weights_of(weights, static_cast<int64_t>(rows));
    const Released release;
    new (self) AdditiveRows(blocks, labels.data(), w, static_cast<int64_t>(rows), classes);
}

template <class Input>
void require_parameters(const AdditiveRows& rows, const Input& array) {
    require(has_shape(array, {rows.parameters(), rows.outputs()}),
            "the parameters have the wrong shape");
}

void scores_binding(const AdditiveRows& rows, const Matrix& parameters, Table out) {
    require_parameters(rows, parameters);
    require(has_shape(out, {rows.rows(), rows.outputs()}), "out has the wrong shape");
    Memory().fill(out).read(parameters).require_apart();
    const Released release;
    const int pad = rows.pad(), outputs = rows.outputs();
    std::vector<double> padded(rows.length());
    for (int64_t i = 0; i < rows.parameters(); ++i)
        std::copy_n(parameters.data() + i * outputs, outputs, &padded[i * pad]);
    rows.scores(padded.data(), out.data());
}

std::vector<Rises::Run> runs_of(const std::optional<Runs>& given, const AdditiveRows& rows) {
    if (!given) return {};
    const Runs& runs = *given;
    require(runs.shape(1) == 3, "runs have a begin, an end and a sign");
    require(runs.shape(0) == 0 || rows.outputs() == 1, "runs are for two classes");
    std::vector<Rises::Run> out;
    int64_t last = 0;
    for (size_t r = 0; r < runs.shape(0); ++r) {
        const int64_t* run = runs.data() + 3 * r;
        require(last <= run[0] && run[0] < run[1] && run[1] < rows.parameters(),
                "runs must be in order and within the parameters");
        require(run[2] == 1 || run[2] == -1, "the sign of a run is 1 or -1");
        out.push_back({run[0], run[1], static_cast<int>(run[2])});
        last = run[1];
    }
    return out;
}

void make_newton(AdditiveNewton* self, const AdditiveRows& rows, const Vector& penalty,
                 const Vector& link, const Matrix& target, const Vector& hold,
                 const std::optional<Runs>& runs) {
    const size_t size = static_cast<size_t>(rows.parameters()) - 1;
    require_parameters(rows, target);
    require(penalty.shape(0) == size && link.shape(0) == size && length(hold) == rows.outputs(),
            "penalty, link and hold must fit the parameters");
    Memory().read(penalty).read(link).read(target).read(hold).read(runs).require_apart();
    for (const Vector* each : {&penalty, &link, &hold})
        require(are_weights(each->data(), length(*each)),
                "penalty, link and hold must be finite and not negative");
    require(size == 0 || link.data()[size - 1] == 0, "the last parameter has no neighbour");
    std::vector<Rises::Run> own_runs = runs_of(runs, rows);
    const Released release;
    new (self) AdditiveNewton(rows, std::vector(penalty.data(), penalty.data() + size),
                              std::vector(link.data(), link.data() + size), target.data(),
                              hold.data(), std::move(own_runs));
}

std::tuple<int, int, bool, double, double> minimize_binding(AdditiveNewton& newton, double lam,
                                                            double tolerance, int most_steps,
                                                            Table parameters) {
    require_parameters(newton.rows(), parameters);
    require(lam >= 0 && std::isfinite(lam), "the penalty must be finite and not negative");
    require_stopping(tolerance, most_steps);
    Memory().fill(parameters).require_apart();
    const InUse held(&newton, InUse::How::change);
    const Released release;
    const auto found = newton.minimize(lam, tolerance, most_steps, parameters.data());
    return {found.steps, found.products, found.finished, found.objective, found.gain};
}

double objective_binding(const AdditiveNewton& newton, double lam, const Matrix& parameters,
                         std::optional<Table> gradient) {
    require_parameters(newton.rows(), parameters);
    if (gradient) require_parameters(newton.rows(), *gradient);
    require(lam >= 0 && std::isfinite(lam), "the penalty must be finite and not negative");
    Memory().fill(gradient).read(parameters).require_apart();
    const InUse held(&newton, InUse::How::read);
    const Released release;
    return newton.objective(lam, parameters.data(), gradient ? gradient->data() : nullptr);
}

void gains_binding(const std::vector<Bytes>& codes, const std::vector<int>& sizes,
                   const Places& pairs, const Matrix& slopes, const Matrix& bends, Numbers out) {
    const size_t rows = slopes.shape(0);
    require(codes.size() == sizes.size(), "codes and sizes differ in number");
    require(bends.shape(0) == rows && bends.shape(1) == slopes.shape(1),
            "slopes and bends differ in shape");
    require(pairs.shape(1) == 2 && out.shape(0) == pairs.shape(0), "out has the wrong shape");
    require(slopes.shape(1) > 0 && length(slopes, 1) <= kMostClasses,
            "slopes have the wrong shape");
    Memory used;
    used.fill(out).read(codes).read(pairs).read(slopes).read(bends).require_apart();
    std::vector<PairCodes> columns;
    for (size_t j = 0; j < codes.size(); ++j) {
        require(codes[j].shape(0) == rows, "codes differ in length");
        require(0 < sizes[j] && sizes[j] <= 256, "a column has the wrong size");
        for (size_t i = 0; i < rows; ++i)
            require(codes[j].data()[i] < sizes[j], "a code is too large");
        columns.push_back({codes[j].data(), sizes[j]});
    }
    std::vector<std::pair<int, int>> places;
    for (size_t t = 0; t < pairs.shape(0); ++t) {
        const int a = pairs.data()[2 * t], b = pairs.data()[2 * t + 1],
                  n = static_cast<int>(columns.size());
        require(0 <= a && a < n && 0 <= b && b < n, "a pair names no column");
        places.emplace_back(a, b);
    }
    const Released release;
    pair_gains(columns, places, slopes.data(), bends.data(), static_cast<int64_t>(rows),
               static_cast<int>(slopes.shape(1)), out.data());
}

}  // namespace

void bind_additive(nb::module_& m) {
    nb::class_<AdditiveRows>(m, "AdditiveRows", "Rows of an additive model: codes, knots, numbers.")
        .def("__init__", &make_rows, nb::arg("kinds"), nb::arg("sizes"), array_arg("codes"),
             array_arg("values"), array_arg("labels"), array_or_none("weights"), nb::arg("classes"),
             "Kinds: 0 coded, 1 hat, 2 line. What a kind does not have is an empty array.")
        .def_prop_ro("parameters", &AdditiveRows::parameters)
        .def_prop_ro("outputs", &AdditiveRows::outputs)
        .def_prop_ro("total_weight", &AdditiveRows::total_weight)
        .def("scores", &scores_binding, array_arg("parameters"), array_arg("out"),
             "Fill out (rows x outputs) with the scores at parameters (parameters x outputs, "
             "intercepts last).");
    nb::class_<AdditiveNewton>(m, "AdditiveNewton",
                               "Minima of an additive model with a quadratic penalty.")
        .def("__init__", &make_newton, nb::arg("rows"), array_arg("penalty"), array_arg("link"),
             array_arg("target"), array_arg("hold"), array_or_none("runs") = nb::none(),
             nb::keep_alive<1, 2>(),
             "Parameters of a run (begin, end, sign) must rise, or fall, and one alone has the "
             "sign.")
        .def("minimize", &minimize_binding, nb::arg("lam"), nb::arg("tolerance"),
             nb::arg("most_steps"), array_arg("parameters"),
             "Go from parameters to the minimum, and leave it there. Returns the numbers of steps "
             "and of products with the Hessian, whether they were enough, the objective at the "
             "last look and the gain that was expected of the last step.")
        .def("objective", &objective_binding, nb::arg("lam"), array_arg("parameters"),
             array_or_none("gradient"), "The objective; fills its gradient unless None.");
    m.def("pair_gains", &gains_binding, array_arg("codes"), nb::arg("sizes"), array_arg("pairs"),
          array_arg("slopes"), array_arg("bends"), array_arg("out"),
          "Fill out with what tables of these pairs of coded columns could still explain.");
}

}  // namespace lessnaive
