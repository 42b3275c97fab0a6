// Second derivatives of the log loss of weighted evidence, known by what they do to vectors.
#pragma once

#include <cstdint>
#include <vector>

#include "weights/evidence.hpp"

namespace lessnaive {

// The Hessian by weights (classes, columns) of their own for each class. Nothing is squared, so
// that a product costs no more than the gradient. It keeps the probabilities, rows x classes.
class EvidenceCurvature {
  public:
    // The evidence must live as long as this.
    EvidenceCurvature(const Evidence& evidence, const double* weights);
    EvidenceCurvature(const EvidenceCurvature&) = delete;
    EvidenceCurvature& operator=(const EvidenceCurvature&) = delete;

    // out = H v, of shape (classes, columns).
    void multiply(const double* v, double* out) const;
    // Its blocks on the diagonal, as `class_curvatures` has them; `tied`: those of the Hessian by
    // weights that all classes share.
    void blocks(bool tied, int64_t width, double* out) const;

    const Evidence& evidence() const { return evidence_; }
    // Its own and those of the evidence, which it keeps alive.
    int64_t bytes() const {
        return evidence_.bytes() + static_cast<int64_t>(probabilities_.size() * sizeof(double));
    }

  private:
    const Evidence& evidence_;
    std::vector<double> probabilities_;  // (rows, pad)
};

}  // namespace lessnaive
