// A quadratic plus powers of weights: the inner problem of fractional naive Bayes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace lessnaive {

// minimize over x:  g.(x - w) + (x - w)'H(x - w) / 2 + sum_k c_k x_k^p,  lower <= x <= upper.
// H is symmetric and positive semidefinite, (size, size); 0 <= lower and 0 < p <= 2.
struct PowerProgram {
    int64_t size;
    const double *hessian, *gradient, *start, *cost, *lower, *upper;
    double power;
};

struct PowerSolution {
    std::vector<double> x;
    double value;  // relative to that at the start; never above 0
    int rounds;
};

// Rounds of coordinate descent, each weight to the best place that it has given the others, until a
// round gains less than `tolerance`. For p < 1 this is a local minimum.
PowerSolution solve(const PowerProgram& program, double tolerance, int most_rounds);

// Takes weight k to its lower bound, or away from there to the best place that it has, and lets the
// others adapt for some rounds. Nothing if there is no such place.
std::optional<PowerSolution> make_move(const PowerProgram& program, int64_t k, double tolerance,
                                       int most_rounds);

// The value of each of these moves, relative to that at the start; infinite if there is none.
std::vector<double> try_moves(const PowerProgram& program, double tolerance, int most_rounds);

}  // namespace lessnaive
