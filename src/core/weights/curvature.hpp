// Second derivatives of the loss of weighted evidence, over some of the weights.
#pragma once

#include <cstdint>
#include <vector>

#include "weights/evidence.hpp"
#include "weights/weighted_loss.hpp"

namespace lessnaive {

// Which rows to look at: all, or about `rows` of them spread evenly (places jittered by `seed`).
// Of the log loss with weights of their own for each class, a row is left out between two classes
// the product of whose probabilities is at most `negligible` times the share of rows that the rarer
// one has: the curvature is the sum over pairs of classes of p_c p_d times the square of the
// difference of their scores, so that what is left is curvature still, and less of it.
struct RowSample {
    int64_t rows;
    uint64_t seed;
    double negligible = 0;
};

// Where the packed rows of a part of a table are among those of the whole table.
struct PlaceInWhole {
    int64_t rows;                 // of the whole table
    std::vector<int64_t> starts;  // place of the first row of each class
};

// The Hessian of the log loss at weights (classes, columns), or the Gauss-Newton matrix of the
// squared loss, by the weights listed in `chosen`, in increasing order: c * columns + j for a
// weight of its own for each class and column; j for weights that all classes share (`tied`). out:
// (chosen, chosen), scaled up to the weight of all rows.
void curvature(const Evidence& evidence, const double* weights, LossKind loss, bool tied,
               const std::vector<int64_t>& chosen, RowSample sample, double* out);

// The same for those rows of a part that a sample of the whole table would look at, not scaled up:
// the sum over all parts is that of the whole. Returns the weight of the rows looked at.
double curvature_of_part(const Evidence& part, const PlaceInWhole& place, const double* weights,
                         LossKind loss, bool tied, const std::vector<int64_t>& chosen,
                         RowSample sample, double* out);

// grams (classes, places, places), by the columns that say something: sum_i s_i e_ic e_ic'. Returns
// sum_i s_i max_c |e_ic|^2.
double gram_matrices(const Evidence& evidence, double* grams);

}  // namespace lessnaive
