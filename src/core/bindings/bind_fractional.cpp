// Weights between 0 and 1 with powers as penalties.
#include <algorithm>

#include "bindings/bindings.hpp"
#include "bindings/checks.hpp"
#include "bindings/overlap.hpp"
#include "bindings/released.hpp"
#include "weights/power_program.hpp"

namespace lessnaive {
namespace {

PowerProgram program_of(const Matrix& hessian, const Vector& gradient, const Vector& cost,
                        const Vector& lower, const Vector& upper, double power, const double* x,
                        int64_t size) {
    require(has_shape(hessian, {size, size}), "arrays differ in length");
    for (const Vector* each : {&gradient, &cost, &lower, &upper})
        require(length(*each) == size, "arrays differ in length");
    require(power > 0 && power <= 2, "the power must be above 0 and at most 2");
    require(are_bounds(lower, upper), "the lower bounds must not be above the upper ones");
    // Powers of negative numbers are none.
    require(std::all_of(lower.data(), lower.data() + size, [](double low) { return low >= 0; }),
            "the lower bounds must not be negative");
    return {size,        hessian.data(), gradient.data(), x,
            cost.data(), lower.data(),   upper.data(),    power};
}

std::tuple<int, double> solve_binding(const Matrix& hessian, const Vector& gradient,
                                      const Vector& cost, const Vector& lower, const Vector& upper,
                                      double power, double tolerance, int most_rounds, Numbers x) {
    const PowerProgram program =
        program_of(hessian, gradient, cost, lower, upper, power, x.data(), length(x));
    require_stopping(tolerance, most_rounds);
    Memory used;
    used.fill(x).read(hessian).read(gradient).read(cost).read(lower).read(upper).require_apart();
    const Released release;
    const PowerSolution found = solve(program, tolerance, most_rounds);
    std::copy(found.x.begin(), found.x.end(), x.data());
    return {found.rounds, found.value};
}

void moves_binding(const Matrix& hessian, const Vector& gradient, const Vector& cost,
                   const Vector& lower, const Vector& upper, double power, double tolerance,
                   int most_rounds, const Vector& x, Numbers out) {
    const PowerProgram program =
        program_of(hessian, gradient, cost, lower, upper, power, x.data(), length(x));
    require(length(out) == program.size, "arrays differ in length");
    require_stopping(tolerance, most_rounds);
    Memory used;
    used.fill(out).read(hessian).read(gradient).read(cost).read(lower).read(upper).read(x);
    used.require_apart();
    const Released release;
    const std::vector<double> found = try_moves(program, tolerance, most_rounds);
    std::copy(found.begin(), found.end(), out.data());
}

double move_binding(const Matrix& hessian, const Vector& gradient, const Vector& cost,
                    const Vector& lower, const Vector& upper, double power, double tolerance,
                    int most_rounds, int64_t k, Numbers x) {
    const PowerProgram program =
        program_of(hessian, gradient, cost, lower, upper, power, x.data(), length(x));
    require_stopping(tolerance, most_rounds);
    Memory used;
    used.fill(x).read(hessian).read(gradient).read(cost).read(lower).read(upper).require_apart();
    require(k >= 0 && k < program.size, "there is no such weight");
    const Released release;
    const auto found = make_move(program, k, tolerance, most_rounds);
    if (!found) return 0.0;
    std::copy(found->x.begin(), found->x.end(), x.data());
    return found->value;
}

}  // namespace

void bind_fractional(nb::module_& m) {
    m.def("solve_power", &solve_binding, array_arg("hessian"), array_arg("gradient"),
          array_arg("cost"), array_arg("lower"), array_arg("upper"), nb::arg("power"),
          nb::arg("tolerance"), nb::arg("most_rounds"), array_arg("x"),
          "Minimize g.(x - x0) + (x - x0)'H(x - x0)/2 + sum c x^p within bounds by coordinate "
          "descent, in place from x0; returns the rounds and what was gained (a negative number).");
    m.def("try_moves", &moves_binding, array_arg("hessian"), array_arg("gradient"),
          array_arg("cost"), array_arg("lower"), array_arg("upper"), nb::arg("power"),
          nb::arg("tolerance"), nb::arg("most_rounds"), array_arg("x"), array_arg("out"),
          "Fill out with what it would bring to take each weight to its lower bound, or away from "
          "it, and to let the others adapt.");
    m.def("make_move", &move_binding, array_arg("hessian"), array_arg("gradient"),
          array_arg("cost"), array_arg("lower"), array_arg("upper"), nb::arg("power"),
          nb::arg("tolerance"), nb::arg("most_rounds"), nb::arg("k"), array_arg("x"),
          "Make this move with weight k in place, if there is one; returns what it brings.");
}

}  // namespace lessnaive
