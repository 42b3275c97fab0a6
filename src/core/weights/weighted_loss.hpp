// The loss of weighted evidence and its gradient: one pass over the packed rows.
#pragma once

#include <cstdint>

#include "weights/evidence.hpp"

namespace lessnaive {

// log: sum of s_i (-log p_iy); squared: sum of s_i sum_c (p_ic - [c = y])^2 / 2.
enum class LossKind { log, squared };

// Loss at weights (classes, columns), and its gradient (classes, columns) unless null.
double weighted_loss(const Evidence& evidence, const double* weights, LossKind loss,
                     double* gradient);

// The loss of the mixed probabilities (1 - share) p(first) + share p(second), and its gradient by
// both weights (classes, columns) and by the share.
struct MixedLoss {
    double value, by_share;
};
MixedLoss mixed_loss(const Evidence& evidence, const double* first, const double* second,
                     double share, LossKind loss, double* by_first, double* by_second);

// Probabilities (rows, classes), in the order of the packed rows.
void probabilities(const Evidence& evidence, const double* weights, double* out);

struct Margins {
    double smallest, largest;
};

// Over all rows and all other classes c: sum_j d_yj e_jy - d_cj e_jc, that is how fast the row
// moves away from c along the direction d (classes, columns).
Margins margins(const Evidence& evidence, const double* direction);

}  // namespace lessnaive
