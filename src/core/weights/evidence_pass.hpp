// One thread's work on blocks of packed rows: scores, probabilities, residuals, gradient.
#pragma once

#include <cstdint>
#include <vector>

#include "weights/evidence.hpp"
#include "weights/weighted_loss.hpp"

namespace lessnaive {

// The scores of a block are kept, and become probabilities and then residuals in place.
class EvidencePass {
  public:
    // weights: (classes, columns)
    EvidencePass(const Evidence& evidence, const double* weights);

    // (count, pad)
    double* scores() { return scores_.data(); }

    void score(const Block& block, bool with_intercept);
    void probabilities(const Block& block);
    // Probabilities become the derivative of the loss by the scores; returns the loss of the block.
    double residuals(const Block& block, LossKind loss);
    // gradient (columns, pad), in the order of the work: coded columns, then curves.
    void add_gradient(const Block& block, double* gradient);

  private:
    double squared_residuals(const Block& block, const double* weights);
    void load_curve(size_t j, const Block& block);
    template <class Work>
    void over_columns(const Block& block, Work&& work);

    const Evidence& evidence_;
    int classes_, pad_;
    std::vector<double> weights_;   // (columns, pad), in the order of the work
    std::vector<uint8_t> matters_;  // whether a column has a weight other than 0
    std::vector<double> scores_, curve_, log_own_;
    uint32_t codes_[kEvidenceBlock];
};

}  // namespace lessnaive
