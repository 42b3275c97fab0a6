// Weights between 0 and 1 with powers as penalties.
#include <algorithm>

#include "bindings/bindings.hpp"
#include "weights/power_program.hpp"

namespace lessnaive {
namespace {

using Numbers = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

PowerProgram program_of(const Matrix& hessian, const Vector& gradient, const Vector& cost,
                        const Vector& lower, const Vector& upper, double power, const double* x,
                        size_t size) {
    require(hessian.shape(0) == size && hessian.shape(1) == size && gradient.shape(0) == size &&
                cost.shape(0) == size && lower.shape(0) == size && upper.shape(0) == size,
            "arrays differ in length");
    require(power > 0 && power <= 2, "the power must be above 0 and at most 2");
    return {static_cast<int64_t>(size),
            hessian.data(),
            gradient.data(),
            x,
            cost.data(),
            lower.data(),
            upper.data(),
            power};
}

std::tuple<int, double> solve_binding(const Matrix& hessian, const Vector& gradient,
                                      const Vector& cost, const Vector& lower, const Vector& upper,
                                      double power, double tolerance, int most_rounds, Numbers x) {
    const PowerProgram program =
        program_of(hessian, gradient, cost, lower, upper, power, x.data(), x.shape(0));
    nb::gil_scoped_release release;
    const PowerSolution found = solve(program, tolerance, most_rounds);
    std::copy(found.x.begin(), found.x.end(), x.data());
    return {found.rounds, found.value};
}

void moves_binding(const Matrix& hessian, const Vector& gradient, const Vector& cost,
                   const Vector& lower, const Vector& upper, double power, double tolerance,
                   int most_rounds, const Vector& x, Numbers out) {
    const PowerProgram program =
        program_of(hessian, gradient, cost, lower, upper, power, x.data(), x.shape(0));
    require(out.shape(0) == x.shape(0), "arrays differ in length");
    nb::gil_scoped_release release;
    const std::vector<double> found = try_moves(program, tolerance, most_rounds);
    std::copy(found.begin(), found.end(), out.data());
}

double move_binding(const Matrix& hessian, const Vector& gradient, const Vector& cost,
                    const Vector& lower, const Vector& upper, double power, double tolerance,
                    int most_rounds, int64_t k, Numbers x) {
    const PowerProgram program =
        program_of(hessian, gradient, cost, lower, upper, power, x.data(), x.shape(0));
    require(k >= 0 && k < program.size, "there is no such weight");
    nb::gil_scoped_release release;
    const auto found = make_move(program, k, tolerance, most_rounds);
    if (!found) return 0.0;
    std::copy(found->x.begin(), found->x.end(), x.data());
    return found->value;
}

}  // namespace

void bind_fractional(nb::module_& m) {
    m.def("solve_power", &solve_binding, nb::arg("hessian"), nb::arg("gradient"), nb::arg("cost"),
          nb::arg("lower"), nb::arg("upper"), nb::arg("power"), nb::arg("tolerance"),
          nb::arg("most_rounds"), nb::arg("x"),
          "Minimize g.(x - x0) + (x - x0)'H(x - x0)/2 + sum c x^p within bounds by coordinate "
          "descent, in place from x0; returns the rounds and what was gained (a negative number).");
    m.def("try_moves", &moves_binding, nb::arg("hessian"), nb::arg("gradient"), nb::arg("cost"),
          nb::arg("lower"), nb::arg("upper"), nb::arg("power"), nb::arg("tolerance"),
          nb::arg("most_rounds"), nb::arg("x"), nb::arg("out"),
          "Fill out with what it would bring to take each weight to its lower bound, or away from "
          "it, and to let the others adapt.");
    m.def("make_move", &move_binding, nb::arg("hessian"), nb::arg("gradient"), nb::arg("cost"),
          nb::arg("lower"), nb::arg("upper"), nb::arg("power"), nb::arg("tolerance"),
          nb::arg("most_rounds"), nb::arg("k"), nb::arg("x"),
          "Make this move with weight k in place, if there is one; returns what it brings.");
}

}  // namespace lessnaive
