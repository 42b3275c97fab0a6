#include "weights/weighted_loss.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "weights/over_blocks.hpp"

namespace lessnaive {
namespace {

// Probabilities become derivatives of the loss of their mixture by the scores behind each.
void mix_residuals(const Evidence& evidence, const Block& block, double share, LossKind loss,
                   double* p, double* q, MixedLoss& sum) {
    const int classes = evidence.classes(), pad = evidence.pad();
    std::vector<double> slope(classes);  // derivative by the mixed probability
    for (int k = 0; k < block.count; ++k, p += pad, q += pad) {
        const double s = evidence.weights() ? evidence.weights()[block.first + k] : 1.0;
        double of_p = 0, of_q = 0, squares = 0;
        for (int c = 0; c < classes; ++c) {
            const double mixed = (1 - share) * p[c] + share * q[c];
            const double error = mixed - (c == block.label ? 1.0 : 0.0);
            squares += error * error;
            // The smallest double keeps the loss of a row without any chance finite.
            const double chance = std::max(mixed, std::numeric_limits<double>::min());
            if (loss == LossKind::log) {
                slope[c] = c == block.label ? -s / chance : 0.0;
                if (c == block.label) sum.value -= s * std::log(chance);
            } else {
                slope[c] = s * error;
            }
            of_p += slope[c] * p[c];
            of_q += slope[c] * q[c];
            sum.by_share += slope[c] * (q[c] - p[c]);
        }
        if (loss == LossKind::squared) sum.value += 0.5 * s * squares;
        for (int c = 0; c < classes; ++c) {
            p[c] *= (1 - share) * (slope[c] - of_p);
            q[c] *= share * (slope[c] - of_q);
        }
    }
}

}  // namespace

double weighted_loss(const Evidence& evidence, const double* weights, LossKind loss,
                     double* gradient) {
    const BlockTasks tasks = tasks_of(evidence);
    const int64_t size = static_cast<int64_t>(evidence.columns()) * evidence.pad();
    std::vector<double> losses(tasks.count, 0.0);
    std::vector<double> gradients(gradient ? tasks.count * size : 0, 0.0);
    over_blocks(evidence, weights, [&](int64_t task, EvidencePass& pass, const Block& block) {
        pass.score(block, true);
        pass.probabilities(block);
        losses[task] += pass.residuals(block, loss);
        if (gradient) pass.add_gradient(block, gradients.data() + task * size);
    });
    double value = 0;
    for (double part : losses) value += part;
    if (!gradient) return value;
    sum_gradients(evidence, gradients, gradient);
    return value;
}

MixedLoss mixed_loss(const Evidence& evidence, const double* first, const double* second,
                     double share, LossKind loss, double* by_first, double* by_second) {
    const BlockTasks tasks = tasks_of(evidence);
    const int64_t blocks = static_cast<int64_t>(evidence.blocks().size());
    const int64_t size = static_cast<int64_t>(evidence.columns()) * evidence.pad();
    const int64_t cells = 2 * evidence.rows() * (evidence.columns() + 1);
    std::vector<MixedLoss> parts(tasks.count, MixedLoss{0, 0});
    std::vector<double> firsts(tasks.count * size, 0.0), seconds(tasks.count * size, 0.0);
    parallel_for(tasks.count, cells, [&](int64_t task) {
        EvidencePass one(evidence, first), other(evidence, second);
        const int64_t end = std::min(blocks, (task + 1) * tasks.blocks_each);
        for (int64_t b = task * tasks.blocks_each; b < end; ++b) {
            const Block& block = evidence.blocks()[b];
            for (EvidencePass* pass : {&one, &other}) {
                pass->score(block, true);
                pass->probabilities(block);
            }
            mix_residuals(evidence, block, share, loss, one.scores(), other.scores(), parts[task]);
            one.add_gradient(block, firsts.data() + task * size);
            other.add_gradient(block, seconds.data() + task * size);
        }
    });
    sum_gradients(evidence, firsts, by_first);
    sum_gradients(evidence, seconds, by_second);
    MixedLoss out{0, 0};
    for (const MixedLoss& part : parts)
        out = {out.value + part.value, out.by_share + part.by_share};
    return out;
}

void probabilities(const Evidence& evidence, const double* weights, double* out) {
    const int classes = evidence.classes();
    over_blocks(evidence, weights, [&](int64_t, EvidencePass& pass, const Block& block) {
        pass.score(block, true);
        pass.probabilities(block);
        for (int k = 0; k < block.count; ++k)
            std::copy_n(pass.scores() + k * evidence.pad(), classes,
                        out + (block.first + k) * classes);
    });
}

Margins margins(const Evidence& evidence, const double* direction) {
    const BlockTasks tasks = tasks_of(evidence);
    const double infinity = std::numeric_limits<double>::infinity();
    std::vector<Margins> parts(tasks.count, Margins{infinity, -infinity});
    over_blocks(evidence, direction, [&](int64_t task, EvidencePass& pass, const Block& block) {
        pass.score(block, false);
        for (int k = 0; k < block.count; ++k) {
            const double* row = pass.scores() + k * evidence.pad();
            for (int c = 0; c < evidence.classes(); ++c) {
                if (c == block.label) continue;
                const double margin = row[block.label] - row[c];
                parts[task].smallest = std::min(parts[task].smallest, margin);
                parts[task].largest = std::max(parts[task].largest, margin);
            }
        }
    });
    Margins out{infinity, -infinity};
    for (const Margins& part : parts)
        out = {std::min(out.smallest, part.smallest), std::max(out.largest, part.largest)};
    return out;
}

}  // namespace lessnaive
