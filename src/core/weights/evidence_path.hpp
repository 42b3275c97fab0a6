// Minima of the penalized log loss of weighted evidence along a path of penalties.
#pragma once

#include <cstdint>
#include <vector>

#include "weights/evidence.hpp"
#include "weights/newton_path.hpp"

namespace lessnaive {

// minimize over w:  loss(target + w) + sum_k (l1 |w_k| + l2 w_k^2)  for one penalty after the
// other, with a weight of its own for each class and column. The curvature is that of about
// `enough` rows. The evidence must live as long as the path.
class EvidencePath : public NewtonPath {
  public:
    EvidencePath(const Evidence& evidence, double target, int64_t enough);
};

}  // namespace lessnaive
