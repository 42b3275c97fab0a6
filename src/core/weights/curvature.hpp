// Second derivatives of the loss of weighted evidence, over some of the weights.
#pragma once

#include <cstdint>
#include <vector>

#include "weights/chunks.hpp"
#include "weights/evidence.hpp"
#include "weights/weighted_loss.hpp"

namespace lessnaive {

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

}  // namespace lessnaive
