// The minimum of the loss of an additive model plus a quadratic penalty, for one strength of the
// penalty after the other.
//
//   loss(W, b) + lam / 2 sum_p penalty_p (W_p - target_p)^2 + lam / 2 sum_p link_p (W_p+1 - W_p)^2
//
// Newton's method: each step is found by conjugate gradients, whose preconditioner is the Hessian
// of each output by itself, as it was at some point on the way (where its Cholesky factor is
// cheap), or the part of it that couples neighbours at most (elsewhere). Scores of several outputs
// are known up to what is common to all of them: they keep the mean that they begin with.
//
// Parameters of one output may have to rise: then steps move those that are tied as one, and end at
// the nearest point that is allowed (Bertsekas 1982, projected Newton methods).
#pragma once

#include <cstdint>
#include <vector>

#include "additive/additive_rows.hpp"
#include "additive/cholesky.hpp"
#include "additive/rises.hpp"

namespace lessnaive {

class AdditiveNewton {
  public:
    struct Found {
        int steps;         // of Newton
        int products;      // with the Hessian
        bool finished;     // whether the expected gain fell below the tolerance
        double objective;  // at the last look at the rows
        double gain;       // that was expected of the last step
    };

    // penalty, link (parameters without the intercept): link p holds p and p + 1 together. target
    // is (parameters, outputs). The intercept of output o costs hold_o / 2 (b_o - target_o)^2,
    // whatever lam is. Runs that must rise are for one output. The rows must live as long as this.
    AdditiveNewton(const AdditiveRows& rows, std::vector<double> penalty, std::vector<double> link,
                   const double* target, const double* hold, std::vector<Rises::Run> runs);

    // parameters (parameters, outputs): where to begin, and what was found. The search ends when a
    // step promises to lower the objective by less than tolerance x total weight.
    Found minimize(double lam, double tolerance, int most_steps, double* parameters);
    const AdditiveRows& rows() const { return rows_; }
    // The same objective for any parameters, and its gradient unless null.
    double objective(double lam, const double* parameters, double* gradient) const;

  private:
    class Preconditioner;

    double penalized(double lam, const double* padded, double* gradient, float* p) const;
    void add_penalty_product(double lam, const double* direction, double* out) const;
    struct Products {
        int count;
        bool poor;  // whether the first one said that the preconditioner is no good
    };
    Products newton_step(double lam, double enough, bool trusted, const Preconditioner& inverse,
                         const double* gradient, const float* p, double* step) const;
    void center(std::vector<double>& values) const;
    bool is_dense() const;
    bool refresh_grams(const float* p, bool at_any_cost);
    std::vector<double> distances(double lam) const;

    const AdditiveRows& rows_;
    std::vector<double> penalty_, link_;  // with entries of 0 for the intercept
    std::vector<double> target_;          // (parameters, pad)
    std::vector<double> hold_;            // (pad)
    Rises rises_;
    std::vector<double> bends_;  // of the rows for each parameter, at most, if some must rise
    // Sums of x x' over the rows, if they are used: one for all outputs, or one for each, in which
    // rows count with their curvature.
    std::vector<std::vector<double>> grams_;
    bool own_bends_ = false;
    int last_products_ = 0;  // of the last step
};

}  // namespace lessnaive
