// Second derivatives of the loss of a linear model.
#pragma once

#include <cstdint>
#include <vector>

#include "linear/linear_rows.hpp"

namespace lessnaive {

// The Hessian by the chosen coefficients, (chosen, chosen), estimated from `enough` rows or more,
// block by block at even distances. Chosen are places in (outputs, coefficients), in ascending
// order. Its cost grows with the products of chosen coefficients that meet in a row. A row may be
// left out between two of several outputs the product of whose probabilities is at most
// `negligible` times the share of rows that the rarer class has, and of an output's own part where
// much less than that is left of it. What is left has no directions of negative curvature.
// `by_block`: what the loss at the same coefficients has left, if it was asked.
void curvature(const LinearRows& rows, const double* coefficients, int64_t enough,
               const std::vector<int64_t>& chosen, double* out, double negligible = 0,
               const double* by_block = nullptr);

// The same for those rows of a part that the whole table would look at, not scaled up: the sum over
// all parts is that of the whole, which has `whole` rows, those of the part from `first` on.
// Returns the weight of the rows looked at.
double curvature_of_part(const LinearRows& part, int64_t whole, int64_t first,
                         const double* coefficients, int64_t enough,
                         const std::vector<int64_t>& chosen, double* out);

// The Hessian by all coefficients as a map: nothing is squared, so that its cost is that of the
// gradient. It keeps the probabilities, rows x outputs. A cautious one is that of a parabola above
// the loss (with more than two classes about so): far from the minimum, where rows are sure of a
// wrong class, there is hardly any curvature, and a step by it would be far too long.
class LinearCurvature {
  public:
    // The rows must live as long as this.
    LinearCurvature(const LinearRows& rows, const double* coefficients, bool cautious);
    LinearCurvature(const LinearCurvature&) = delete;
    LinearCurvature& operator=(const LinearCurvature&) = delete;

    // out = H v, of shape (outputs, coefficients).
    void multiply(const double* v, double* out) const;
    // The diagonal, and the entries beside it that belong to the intercept of the same output.
    void diagonal(double* squares, double* with_intercept) const;

    int outputs() const { return rows_.outputs(); }
    int64_t coefficients() const { return rows_.coefficients(); }
    // Its own and those of the rows, which it keeps alive.
    int64_t bytes() const {
        return rows_.bytes() + static_cast<int64_t>(probabilities_.size() * sizeof(double));
    }

  private:
    const double* probability(int64_t place, int o) const;

    const LinearRows& rows_;
    std::vector<double> probabilities_;  // block by block, output by output
};

}  // namespace lessnaive
