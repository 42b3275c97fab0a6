#include "weights/evidence_curvature.hpp"

#include <algorithm>

#include "base/padding.hpp"
#include "base/simd.hpp"
#include "weights/grams.hpp"
#include "weights/over_blocks.hpp"

namespace lessnaive {
namespace {

// Changes of scores (count, pad) become those of the derivatives of the loss by the scores:
// weight x p (change - the mean of all changes by p).
template <int kPad>
LESSNAIVE_WIDE void bend(const double* p, const double* weights, int count, int pad,
                         double* changes) {
    const int width = kPad > 0 ? kPad : pad;
    for (int k = 0; k < count; ++k, p += width, changes += width) {
        double sums[4] = {};  // in a fixed order
        int c = 0;
        for (; c + 4 <= width; c += 4)
            for (int l = 0; l < 4; ++l) sums[l] += p[c + l] * changes[c + l];
        for (; c < width; ++c) sums[0] += p[c] * changes[c];
        const double mean = (sums[0] + sums[1]) + (sums[2] + sums[3]);
        const double weight = weights ? weights[k] : 1.0;
        for (c = 0; c < width; ++c) changes[c] = weight * p[c] * (changes[c] - mean);
    }
}

}  // namespace

EvidenceCurvature::EvidenceCurvature(const Evidence& evidence, const double* weights)
    : evidence_(evidence),
      probabilities_(static_cast<size_t>(evidence.rows()) * evidence.pad(), 0.0) {
    const int64_t pad = evidence.pad();
    over_blocks(evidence, weights, [&](int64_t, EvidencePass& pass, const Block& block) {
        pass.score(block, true);
        pass.probabilities(block);
        for (int k = 0; k < block.count; ++k)
            std::copy_n(pass.scores() + k * pad, evidence.classes(),
                        probabilities_.data() + (block.first + k) * pad);
    });
}

void EvidenceCurvature::multiply(const double* v, double* out) const {
    const int pad = evidence_.pad();
    const int64_t size = static_cast<int64_t>(evidence_.columns()) * pad;
    std::vector<double> parts(tasks_of(evidence_).count * size, 0.0);
    over_blocks(evidence_, v, [&](int64_t task, EvidencePass& pass, const Block& block) {
        pass.score(block, false);
        const double* p = probabilities_.data() + block.first * pad;
        const double* weights = evidence_.weights();
        with_padding(pad, [&](auto width) {
            bend<width()>(p, weights ? weights + block.first : nullptr, block.count, pad,
                          pass.scores());
        });
        pass.add_gradient(block, parts.data() + task * size);
    });
    sum_gradients(evidence_, parts, out);
}

void EvidenceCurvature::blocks(bool tied, int64_t width, double* out) const {
    class_curvatures(evidence_, probabilities_.data(), tied, width, out);
}

}  // namespace lessnaive
