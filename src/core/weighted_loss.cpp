#include "weighted_loss.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "padding.hpp"
#include "parallel.hpp"
#include "simd.hpp"

namespace lessnaive {
namespace {

constexpr int kBlock = kEvidenceBlock;
// Columns that are handled together: reading and writing the scores costs more than adding to them.
constexpr int kTogether = 4;
// Rows are cut into at most this many tasks, each with a gradient of its own.
constexpr int64_t kMostTasks = 64;
constexpr int64_t kLeastBlocks = 16;

template <int kPad, int kColumns, class Code>
LESSNAIVE_WIDE void add_weighted(const Code* const* codes, const double* const* tables,
                                 const double* weights, int count, int pad, double* scores) {
    const int width = kPad > 0 ? kPad : pad;
    for (int k = 0; k < count; ++k) {
        double* sum = scores + k * width;
        const double* rows[kColumns];
        for (int t = 0; t < kColumns; ++t) rows[t] = tables[t] + int64_t{codes[t][k]} * width;
        for (int c = 0; c < width; ++c) {
            double value = sum[c];
            for (int t = 0; t < kColumns; ++t) value += weights[t * width + c] * rows[t][c];
            sum[c] = value;
        }
    }
}

// out (kColumns, pad) += sum over rows of residual x evidence.
template <int kPad, int kColumns, class Code>
LESSNAIVE_WIDE void add_products(const Code* const* codes, const double* const* tables,
                                 const double* residuals, int count, int pad, double* out) {
    if constexpr (kPad == 0) {
        for (int k = 0; k < count; ++k)
            for (int t = 0; t < kColumns; ++t) {
                const double* row = tables[t] + int64_t{codes[t][k]} * pad;
                for (int c = 0; c < pad; ++c) out[t * pad + c] += residuals[k * pad + c] * row[c];
            }
    } else {
        double sums[kColumns * kPad] = {};
        for (int k = 0; k < count; ++k) {
            const double* residual = residuals + k * kPad;
            for (int t = 0; t < kColumns; ++t) {
                const double* row = tables[t] + int64_t{codes[t][k]} * kPad;
                for (int c = 0; c < kPad; ++c) sums[t * kPad + c] += residual[c] * row[c];
            }
        }
        for (int i = 0; i < kColumns * kPad; ++i) out[i] += sums[i];
    }
}

// One thread's work on blocks: scores, probabilities, residuals, gradient.
class BlockPass {
  public:
    BlockPass(const Evidence& evidence, const double* weights)
        : evidence_(evidence),
          classes_(evidence.classes()),
          pad_(evidence.pad()),
          weights_(static_cast<size_t>(evidence.columns()) * pad_, 0.0),
          scores_(kBlock * pad_),
          curve_(kBlock * classes_),
          log_own_(kBlock) {
        // Stored in the order of the work: coded columns, then curves.
        const int columns = evidence.columns();
        int slot = 0;
        const auto put = [&](int64_t place) {
            for (int c = 0; c < classes_; ++c)
                weights_[slot * pad_ + c] = weights[c * columns + place];
            ++slot;
        };
        for (const Evidence::Coded& coded : evidence.coded()) put(coded.place);
        for (const Evidence::Curve& curve : evidence.curves()) put(curve.place);
    }

    double* scores() { return scores_.data(); }
    const double* log_own() const { return log_own_.data(); }

    void score(const Block& block, bool with_intercept) {
        for (int k = 0; k < block.count; ++k) {
            if (with_intercept)
                std::copy_n(evidence_.intercept(block.label), pad_, scores_.data() + k * pad_);
            else
                std::fill_n(scores_.data() + k * pad_, pad_, 0.0);
        }
        const auto& coded = evidence_.coded();
        over_columns(block, [&](auto width, auto together, const auto* const* codes,
                                const double* const* tables, size_t j) {
            add_weighted<width(), together()>(codes, tables, weights_.data() + j * pad_,
                                              block.count, pad_, scores_.data());
        });
        for (size_t j = 0; j < evidence_.curves().size(); ++j) {
            load_curve(j, block);
            const double* w = weights_.data() + (coded.size() + j) * pad_;
            for (int c = 0; c < classes_; ++c)
                for (int k = 0; k < block.count; ++k)
                    scores_[k * pad_ + c] += w[c] * curve_[c * kBlock + k];
        }
    }

    void probabilities(const Block& block) {
        softmax_block(scores_.data(), block.count, classes_, pad_, block.label, log_own_.data());
    }

    // Probabilities become the derivative of the loss by the scores; returns the loss of the block.
    double residuals(const Block& block, Loss loss) {
        const double* weights = evidence_.weights();
        double sum = 0;
        for (int k = 0; k < block.count; ++k) {
            double* p = scores_.data() + k * pad_;
            const double s = weights ? weights[block.first + k] : 1.0;
            double own = 0;  // p - 1, without losing the digits of a p near 1
            for (int c = 0; c < classes_; ++c) own -= c == block.label ? 0.0 : p[c];
            if (loss == Loss::log) {
                sum -= s * log_own_[k];
                p[block.label] = own;
                if (s != 1.0)
                    for (int c = 0; c < classes_; ++c) p[c] *= s;
                continue;
            }
            double squares = 0, mean = 0;
            for (int c = 0; c < classes_; ++c) {
                const double error = c == block.label ? own : p[c];
                squares += error * error;
                mean += p[c] * error;
            }
            sum += 0.5 * s * squares;
            for (int c = 0; c < classes_; ++c) p[c] *= s * ((c == block.label ? own : p[c]) - mean);
        }
        return sum;
    }

    // gradient (columns, pad), in the order of the work.
    void add_gradient(const Block& block, double* gradient) {
        over_columns(block, [&](auto width, auto together, const auto* const* codes,
                                const double* const* tables, size_t j) {
            add_products<width(), together()>(codes, tables, scores_.data(), block.count, pad_,
                                              gradient + j * pad_);
        });
        for (size_t j = 0; j < evidence_.curves().size(); ++j) {
            load_curve(j, block);
            double* out = gradient + (evidence_.coded().size() + j) * pad_;
            for (int c = 0; c < classes_; ++c) {
                double sum = 0;
                for (int k = 0; k < block.count; ++k)
                    sum += scores_[k * pad_ + c] * curve_[c * kBlock + k];
                out[c] += sum;
            }
        }
    }

  private:
    void load_curve(size_t j, const Block& block) {
        evidence_.curve_evidence(evidence_.curves()[j], block.label, block.first, block.count,
                                 kBlock, curve_.data());
    }

    // Calls work(width, together, codes, tables, j) for columns j, j + 1, ...: four columns of
    // one-byte codes at a time, any other column alone.
    template <class Work>
    void over_columns(const Block& block, Work&& work) {
        const auto& coded = evidence_.coded();
        with_padding(pad_, [&](auto width) {
            const double* tables[kTogether];
            for (size_t j = 0; j < coded.size();) {
                size_t t = 0;
                while (t < kTogether && j + t < coded.size() && coded[j + t].width == 1) ++t;
                if (t == kTogether) {
                    const uint8_t* codes[kTogether];
                    for (t = 0; t < kTogether; ++t) {
                        codes[t] = coded[j + t].data.data() + block.first;
                        tables[t] = coded[j + t].table(block.label, pad_);
                    }
                    work(width, std::integral_constant<int, kTogether>{}, codes, tables, j);
                    j += kTogether;
                } else {
                    expand_codes(coded[j], block.first, block.count, codes_);
                    const uint32_t* codes[] = {codes_};
                    tables[0] = coded[j].table(block.label, pad_);
                    work(width, std::integral_constant<int, 1>{}, codes, tables, j);
                    ++j;
                }
            }
        });
    }

    const Evidence& evidence_;
    int classes_, pad_;
    std::vector<double> weights_, scores_, curve_, log_own_;
    uint32_t codes_[kBlock];
};

struct Tasks {
    int64_t count, blocks_each;
};

Tasks tasks_of(const Evidence& evidence) {
    const int64_t blocks = static_cast<int64_t>(evidence.blocks().size());
    const int64_t each = std::max(kLeastBlocks, (blocks + kMostTasks - 1) / kMostTasks);
    return {(blocks + each - 1) / each, each};
}

// Calls work(task, block) for the blocks of each task in order, with a pass of its own.
template <class Work>
void over_blocks(const Evidence& evidence, const double* weights, Work&& work) {
    const Tasks tasks = tasks_of(evidence);
    const int64_t blocks = static_cast<int64_t>(evidence.blocks().size());
    // Many short passes: threads must be worth waking each time.
    const int64_t cells = evidence.rows() * (evidence.columns() + 1) / 4;
    parallel_for(tasks.count, cells, [&](int64_t task) {
        BlockPass pass(evidence, weights);
        const int64_t end = std::min(blocks, (task + 1) * tasks.blocks_each);
        for (int64_t b = task * tasks.blocks_each; b < end; ++b)
            work(task, pass, evidence.blocks()[b]);
    });
}

// out (classes, columns) = the sum of the tasks' gradients (tasks, columns in order of work, pad).
void sum_gradients(const Evidence& evidence, std::vector<double>& parts, double* out) {
    const int columns = evidence.columns(), classes = evidence.classes(), pad = evidence.pad();
    const size_t size = static_cast<size_t>(columns) * pad;
    for (size_t i = size; i < parts.size(); ++i) parts[i % size] += parts[i];
    const size_t coded = evidence.coded().size();
    for (int slot = 0; slot < columns; ++slot) {
        const int64_t place = static_cast<size_t>(slot) < coded
                                  ? evidence.coded()[slot].place
                                  : evidence.curves()[slot - coded].place;
        for (int c = 0; c < classes; ++c)
            out[c * columns + place] = parts.empty() ? 0.0 : parts[slot * pad + c];
    }
}

// Probabilities become derivatives of the loss of their mixture by the scores behind each.
void mix_residuals(const Evidence& evidence, const Block& block, double share, Loss loss, double* p,
                   double* q, MixedLoss& sum) {
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
            if (loss == Loss::log) {
                slope[c] = c == block.label ? -s / chance : 0.0;
                if (c == block.label) sum.value -= s * std::log(chance);
            } else {
                slope[c] = s * error;
            }
            of_p += slope[c] * p[c];
            of_q += slope[c] * q[c];
            sum.by_share += slope[c] * (q[c] - p[c]);
        }
        if (loss == Loss::squared) sum.value += 0.5 * s * squares;
        for (int c = 0; c < classes; ++c) {
            p[c] *= (1 - share) * (slope[c] - of_p);
            q[c] *= share * (slope[c] - of_q);
        }
    }
}

}  // namespace

void softmax_block(double* scores, int count, int classes, int pad, int label, double* log_own) {
    for (int k = 0; k < count; ++k) {
        double* row = scores + k * pad;
        double highest = row[0];
        for (int c = 1; c < classes; ++c) highest = std::max(highest, row[c]);
        const double own = row[label] - highest;
        double rest = 0;  // the sum without the highest, which is exactly 1
        bool seen = false;
        for (int c = 0; c < classes; ++c) {
            if (!seen && row[c] == highest) {
                seen = true;
                row[c] = 1.0;
            } else {
                rest += row[c] = std::exp(row[c] - highest);
            }
        }
        const double inverse = 1.0 / (1.0 + rest);
        for (int c = 0; c < classes; ++c) row[c] *= inverse;
        for (int c = classes; c < pad; ++c) row[c] = 0.0;
        log_own[k] = own - std::log1p(rest);
    }
}

double weighted_loss(const Evidence& evidence, const double* weights, Loss loss, double* gradient) {
    const Tasks tasks = tasks_of(evidence);
    const int64_t size = static_cast<int64_t>(evidence.columns()) * evidence.pad();
    std::vector<double> losses(tasks.count, 0.0);
    std::vector<double> gradients(gradient ? tasks.count * size : 0, 0.0);
    over_blocks(evidence, weights, [&](int64_t task, BlockPass& pass, const Block& block) {
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
                     double share, Loss loss, double* by_first, double* by_second) {
    const Tasks tasks = tasks_of(evidence);
    const int64_t blocks = static_cast<int64_t>(evidence.blocks().size());
    const int64_t size = static_cast<int64_t>(evidence.columns()) * evidence.pad();
    const int64_t cells = 2 * evidence.rows() * (evidence.columns() + 1);
    std::vector<MixedLoss> parts(tasks.count, MixedLoss{0, 0});
    std::vector<double> firsts(tasks.count * size, 0.0), seconds(tasks.count * size, 0.0);
    parallel_for(tasks.count, cells, [&](int64_t task) {
        BlockPass one(evidence, first), other(evidence, second);
        const int64_t end = std::min(blocks, (task + 1) * tasks.blocks_each);
        for (int64_t b = task * tasks.blocks_each; b < end; ++b) {
            const Block& block = evidence.blocks()[b];
            for (BlockPass* pass : {&one, &other}) {
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
    over_blocks(evidence, weights, [&](int64_t, BlockPass& pass, const Block& block) {
        pass.score(block, true);
        pass.probabilities(block);
        for (int k = 0; k < block.count; ++k)
            std::copy_n(pass.scores() + k * evidence.pad(), classes,
                        out + (block.first + k) * classes);
    });
}

Margins margins(const Evidence& evidence, const double* direction) {
    const Tasks tasks = tasks_of(evidence);
    const double infinity = std::numeric_limits<double>::infinity();
    std::vector<Margins> parts(tasks.count, Margins{infinity, -infinity});
    over_blocks(evidence, direction, [&](int64_t task, BlockPass& pass, const Block& block) {
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
