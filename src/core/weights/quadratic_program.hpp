// The inner problem of the proximal Newton method.
#pragma once

#include <cstdint>
#include <vector>

namespace lessnaive {

// minimize over x:  g.(x - w) + (x - w)'H(x - w) / 2 + sum_k f_k (l1 |x_k - t_k| + l2 (x_k -
// t_k)^2) with lower <= x <= upper. H is symmetric and positive semidefinite, (size, size).
struct QuadraticProgram {
    int64_t size;
    const double *hessian, *gradient, *start, *target, *lower, *upper, *factor;
    double l1, l2;
};

struct QuadraticSolution {
    std::vector<double> x, slope;  // slope: g + H (x - w)
    int rounds;
    double residual;  // largest distance of a partial derivative to the subdifferential
};

// Rounds of coordinate descent, which finds which weights stay at their target or bound, and of a
// direct solution for the others, which is exact where coordinate descent would crawl, until no
// residual is above the tolerance, or above this share of the largest at the start.
QuadraticSolution solve(const QuadraticProgram& program, double tolerance, double share,
                        int most_rounds);

}  // namespace lessnaive
