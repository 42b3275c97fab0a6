#include "additive/additive_rows.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/exponential.hpp"
#include "base/padding.hpp"
#include "base/parallel.hpp"
#include "base/simd.hpp"

namespace lessnaive {
namespace {

constexpr int kRows = 256;
constexpr int64_t kMostTasks = 32;
constexpr int64_t kMostBytes = int64_t{1} << 27;

// Calls visit(codes) with the codes of a block as an array of their type.
template <class Visitor>
void with_codes(const AdditiveBlock& block, int64_t first, Visitor&& visit) {
    switch (block.width) {
        case 1:
            return visit(static_cast<const uint8_t*>(block.codes) + first);
        case 2:
            return visit(static_cast<const uint16_t*>(block.codes) + first);
        default:
            return visit(static_cast<const uint32_t*>(block.codes) + first);
    }
}

// ---- scores (count, pad) += parameters of the codes

template <int kPad, class Code>
LESSNAIVE_WIDE void add_coded(const Code* codes, const double* own, int count, int pad,
                              double* scores) {
    const int width = kPad > 0 ? kPad : pad;
    for (int k = 0; k < count; ++k) {
        const double* row = own + int64_t{codes[k]} * width;
        for (int c = 0; c < width; ++c) scores[k * width + c] += row[c];
    }
}

template <int kPad, class Code>
LESSNAIVE_WIDE void add_hat(const Code* codes, const double* share, const double* own, int count,
                            int pad, double* scores) {
    const int width = kPad > 0 ? kPad : pad;
    for (int k = 0; k < count; ++k) {
        const double *low = own + int64_t{codes[k]} * width, *high = low + width;
        const double s = share[k], rest = 1.0 - s;
        for (int c = 0; c < width; ++c) scores[k * width + c] += rest * low[c] + s * high[c];
    }
}

template <int kPad>
LESSNAIVE_WIDE void add_line(const double* values, const double* own, int count, int pad,
                             double* scores) {
    const int width = kPad > 0 ? kPad : pad;
    for (int k = 0; k < count; ++k)
        for (int c = 0; c < width; ++c) scores[k * width + c] += values[k] * own[c];
}

// ---- own (parameters of the block, pad) += residuals (count, pad)

template <int kPad, class Code>
LESSNAIVE_WIDE void spread_coded(const Code* codes, const double* residuals, int count, int pad,
                                 double* own) {
    const int width = kPad > 0 ? kPad : pad;
    for (int k = 0; k < count; ++k) {
        double* row = own + int64_t{codes[k]} * width;
        for (int c = 0; c < width; ++c) row[c] += residuals[k * width + c];
    }
}

template <int kPad, class Code>
LESSNAIVE_WIDE void spread_hat(const Code* codes, const double* share, const double* residuals,
                               int count, int pad, double* own) {
    const int width = kPad > 0 ? kPad : pad;
    for (int k = 0; k < count; ++k) {
        double *low = own + int64_t{codes[k]} * width, *high = low + width;
        const double s = share[k], rest = 1.0 - s;
        for (int c = 0; c < width; ++c) {
            const double r = residuals[k * width + c];
            low[c] += rest * r;
            high[c] += s * r;
        }
    }
}

template <int kPad>
LESSNAIVE_WIDE void spread_line(const double* values, const double* residuals, int count, int pad,
                                double* own) {
    const int width = kPad > 0 ? kPad : pad;
    for (int k = 0; k < count; ++k)
        for (int c = 0; c < width; ++c) own[c] += values[k] * residuals[k * width + c];
}

// ---- scores become probabilities

// Log-odds become the probability of the second class; losses (count) those of the rows.
LESSNAIVE_WIDE void logistic(const int32_t* labels, int count, double* odds, double* losses) {
    double small[kRows];
    for (int k = 0; k < count; ++k) small[k] = odds[k] < 0 ? odds[k] : -odds[k];
    exponentials(small, count);
    for (int k = 0; k < count; ++k) {
        const double ahead = labels[k] == 1 ? odds[k] : -odds[k];
        losses[k] = log_one_plus(small[k]) - (ahead < 0 ? ahead : 0.0);
        const double larger = 1.0 / (1.0 + small[k]);
        odds[k] = odds[k] < 0 ? small[k] * larger : larger;
    }
}

template <int kPad>
LESSNAIVE_WIDE void softmax(const int32_t* labels, int count, int outputs, int pad, double* scores,
                            double* losses) {
    const int width = kPad > 0 ? kPad : pad;
    for (int k = 0; k < count; ++k) {
        double* row = scores + k * width;
        double highest = row[0];
        for (int c = 1; c < outputs; ++c) highest = row[c] > highest ? row[c] : highest;
        losses[k] = highest - row[labels[k]];
        for (int c = 0; c < width; ++c) row[c] -= highest;
        for (int c = outputs; c < width; ++c) row[c] = 2 * kLowestExponent;  // becomes 0
    }
    exponentials(scores, count * width);
    for (int k = 0; k < count; ++k) {
        double* row = scores + k * width;
        double sum = 0;
        for (int c = 0; c < width; ++c) sum += row[c];
        losses[k] += log_of_one_or_more(sum);
        const double inverse = 1.0 / sum;
        for (int c = 0; c < width; ++c) row[c] *= inverse;
    }
}

// Steps u of the scores become weight x (diag(p) - p p') u.
template <int kPad>
LESSNAIVE_WIDE void bend(const double* p, const double* weights, int count, int pad, double* u) {
    const int width = kPad > 0 ? kPad : pad;
    for (int k = 0; k < count; ++k) {
        const double *own = p + k * width, w = weights ? weights[k] : 1.0;
        double* step = u + k * width;
        if constexpr (kPad == 1) {
            step[0] *= w * own[0] * (1.0 - own[0]);
        } else {
            double mean = 0;
            for (int c = 0; c < width; ++c) mean += own[c] * step[c];
            for (int c = 0; c < width; ++c) step[c] = w * own[c] * (step[c] - mean);
        }
    }
}

}  // namespace

AdditiveRows::AdditiveRows(std::vector<AdditiveBlock> blocks, const int32_t* labels,
                           const double* weights, const double* offset, int64_t rows, int classes)
    : blocks_(std::move(blocks)),
      labels_(labels),
      weights_(weights),
      offset_(offset),
      rows_(rows),
      parameters_(1),
      classes_(classes),
      pad_(padded_classes(classes == 2 ? 1 : classes)),
      total_weight_(static_cast<double>(rows)) {
    for (AdditiveBlock& block : blocks_) {
        block.first = parameters_ - 1;
        parameters_ += block.size;
    }
    if (weights_) {
        total_weight_ = 0;
        for (int64_t i = 0; i < rows_; ++i) total_weight_ += weights_[i];
    }
}

void AdditiveRows::over_rows(int64_t size, double* out, const Work& work) const {
    const int64_t bytes = std::max<int64_t>(1, size) * static_cast<int64_t>(sizeof(double));
    const int64_t most = std::clamp<int64_t>(kMostBytes / bytes, 1, kMostTasks);
    const int64_t pieces = (rows_ + kRows - 1) / kRows;
    const int64_t each = std::max<int64_t>(8, (pieces + most - 1) / most);
    const int64_t tasks = (pieces + each - 1) / each;
    std::vector<std::vector<double>> parts(tasks > 1 ? tasks - 1 : 0);
    std::fill_n(out, size, 0.0);
    parallel_for(tasks, cells(), [&](int64_t t) {
        double* own = out;
        if (t > 0) {
            parts[t - 1].assign(size, 0.0);
            own = parts[t - 1].data();
        }
        for (int64_t piece = t * each; piece < std::min(pieces, (t + 1) * each); ++piece) {
            const int64_t first = piece * kRows;
            work(own, first, static_cast<int>(std::min<int64_t>(kRows, rows_ - first)));
        }
    });
    for (const std::vector<double>& part : parts)
        for (int64_t i = 0; i < size; ++i) out[i] += part[i];
}

void AdditiveRows::add_scores(const double* parameters, bool with_offset, int64_t first, int count,
                              double* scores) const {
    const double* intercept = parameters + (parameters_ - 1) * pad_;
    for (int k = 0; k < count; ++k) std::copy_n(intercept, pad_, scores + k * pad_);
    if (with_offset && offset_)
        for (int k = 0; k < count; ++k)
            for (int c = 0; c < outputs(); ++c)
                scores[k * pad_ + c] += offset_[(first + k) * outputs() + c];
    with_padding(pad_, [&](auto width) {
        for (const AdditiveBlock& block : blocks_) {
            const double* own = parameters + block.first * pad_;
            if (block.kind == AdditiveBlock::line)
                add_line<width()>(block.values + first, own, count, pad_, scores);
            else if (block.kind == AdditiveBlock::hat)
                with_codes(block, first, [&](auto codes) {
                    add_hat<width()>(codes, block.values + first, own, count, pad_, scores);
                });
            else
                with_codes(block, first, [&](auto codes) {
                    add_coded<width()>(codes, own, count, pad_, scores);
                });
        }
    });
}

void AdditiveRows::add_gradient(const double* residuals, int64_t first, int count,
                                double* gradient) const {
    double* intercept = gradient + (parameters_ - 1) * pad_;
    for (int k = 0; k < count; ++k)
        for (int c = 0; c < pad_; ++c) intercept[c] += residuals[k * pad_ + c];
    with_padding(pad_, [&](auto width) {
        for (const AdditiveBlock& block : blocks_) {
            double* own = gradient + block.first * pad_;
            if (block.kind == AdditiveBlock::line)
                spread_line<width()>(block.values + first, residuals, count, pad_, own);
            else if (block.kind == AdditiveBlock::hat)
                with_codes(block, first, [&](auto codes) {
                    spread_hat<width()>(codes, block.values + first, residuals, count, pad_, own);
                });
            else
                with_codes(block, first, [&](auto codes) {
                    spread_coded<width()>(codes, residuals, count, pad_, own);
                });
        }
    });
}

void AdditiveRows::scores(const double* parameters, double* out) const {
    double nothing = 0;
    over_rows(0, &nothing, [&](double*, int64_t first, int count) {
        std::vector<double> scores(static_cast<size_t>(count) * pad_);
        add_scores(parameters, true, first, count, scores.data());
        for (int k = 0; k < count; ++k)
            std::copy_n(scores.data() + k * pad_, outputs(), out + (first + k) * outputs());
    });
}

double AdditiveRows::loss(const double* parameters, double* gradient, double* probabilities) const {
    // The last of the numbers of a task is its loss.
    const int64_t size = gradient ? length() : 0;
    std::vector<double> sums(size + 1);
    over_rows(size + 1, sums.data(), [&](double* own, int64_t first, int count) {
        std::vector<double> spare(probabilities ? 0 : static_cast<size_t>(count) * pad_);
        std::vector<double> losses(count);
        double* p = probabilities ? probabilities + first * pad_ : spare.data();
        const int32_t* labels = labels_ + first;
        const double* weights = weights_ ? weights_ + first : nullptr;
        add_scores(parameters, true, first, count, p);
        if (pad_ == 1)
            logistic(labels, count, p, losses.data());
        else
            with_padding(pad_, [&](auto width) {
                softmax<width()>(labels, count, outputs(), pad_, p, losses.data());
            });
        double sum = 0;
        for (int k = 0; k < count; ++k) sum += weights ? weights[k] * losses[k] : losses[k];
        own[size] += sum;
        if (!gradient) return;
        std::vector<double> residuals(p, p + static_cast<size_t>(count) * pad_);
        for (int k = 0; k < count; ++k)
            residuals[k * pad_ + (pad_ == 1 ? 0 : labels[k])] -= pad_ == 1 ? labels[k] : 1.0;
        if (weights)
            for (int k = 0; k < count; ++k)
                for (int c = 0; c < pad_; ++c) residuals[k * pad_ + c] *= weights[k];
        add_gradient(residuals.data(), first, count, own);
    });
    if (gradient) std::copy_n(sums.data(), size, gradient);
    return sums[size];
}

void AdditiveRows::hessian_product(const double* probabilities, const double* direction,
                                   double* out) const {
    over_rows(length(), out, [&](double* own, int64_t first, int count) {
        std::vector<double> steps(static_cast<size_t>(count) * pad_);
        add_scores(direction, false, first, count, steps.data());
        with_padding(pad_, [&](auto width) {
            bend<width()>(probabilities + first * pad_, weights_ ? weights_ + first : nullptr,
                          count, pad_, steps.data());
        });
        add_gradient(steps.data(), first, count, own);
    });
}

void AdditiveRows::bands(const double* probabilities, double* diagonal, double* beside) const {
    std::vector<double> both(2 * length());
    over_rows(2 * length(), both.data(), [&](double* own, int64_t first, int count) {
        std::vector<double> bend(static_cast<size_t>(count) * pad_), part(bend.size());
        for (int k = 0; k < count; ++k)
            for (int c = 0; c < pad_; ++c) {
                const double p = probabilities[(first + k) * pad_ + c];
                bend[k * pad_ + c] = p * (1.0 - p) * (weights_ ? weights_[first + k] : 1.0);
            }
        // Codes and knots: squares of shares instead of shares.
        for (const AdditiveBlock& block : blocks_) {
            double *here = own + block.first * pad_, *next = here + length();
            for (int k = 0; k < count; ++k) {
                const double* q = bend.data() + k * pad_;
                int64_t code = 0;
                if (block.kind != AdditiveBlock::line)
                    with_codes(block, first, [&](auto codes) { code = codes[k]; });
                const double v = block.values ? block.values[first + k] : 0.0;
                double *low = here + code * pad_, *pair = next + code * pad_;
                if (block.kind == AdditiveBlock::coded)
                    for (int c = 0; c < pad_; ++c) low[c] += q[c];
                else if (block.kind == AdditiveBlock::line)
                    for (int c = 0; c < pad_; ++c) low[c] += v * v * q[c];
                else
                    for (int c = 0; c < pad_; ++c) {
                        low[c] += (1 - v) * (1 - v) * q[c];
                        low[pad_ + c] += v * v * q[c];
                        pair[c] += v * (1 - v) * q[c];
                    }
            }
        }
        double* intercept = own + (parameters_ - 1) * pad_;
        for (int k = 0; k < count; ++k)
            for (int c = 0; c < pad_; ++c) intercept[c] += bend[k * pad_ + c];
    });
    std::copy_n(both.data(), length(), diagonal);
    std::copy_n(both.data() + length(), length(), beside);
}

void AdditiveRows::gram(const double* factor, int64_t factor_stride, int64_t enough, double* out,
                        int64_t stride) const {
    const int64_t pieces = (rows_ + kRows - 1) / kRows;
    const int64_t wanted = std::clamp<int64_t>((enough + kRows - 1) / kRows, 1, pieces);
    const int64_t step = pieces / wanted;
    const size_t n = blocks_.size();
    // What each block says about the rows of a piece: one or two parameters with their values.
    std::vector<int32_t> place(2 * (n + 1) * kRows);
    std::vector<double> value(2 * (n + 1) * kRows), scaled(kRows);
    double seen = 0;
    for (int64_t i = 0; i < parameters_; ++i) std::fill_n(out + i * stride, parameters_, 0.0);
    for (int64_t piece = 0; piece < pieces; piece += step) {
        const int64_t first = piece * kRows;
        const int count = static_cast<int>(std::min<int64_t>(kRows, rows_ - first));
        for (size_t b = 0; b <= n; ++b) {
            int32_t* at = place.data() + 2 * b * kRows;
            double* v = value.data() + 2 * b * kRows;
            if (b == n || blocks_[b].kind == AdditiveBlock::line) {
                std::fill_n(at, count,
                            static_cast<int32_t>(b == n ? parameters_ - 1 : blocks_[b].first));
                if (b == n)
                    std::fill_n(v, count, 1.0);
                else
                    std::copy_n(blocks_[b].values + first, count, v);
                continue;
            }
            const AdditiveBlock& block = blocks_[b];
            with_codes(block, first, [&](auto codes) {
                for (int k = 0; k < count; ++k)
                    at[k] = static_cast<int32_t>(block.first + static_cast<int64_t>(codes[k]));
            });
            if (block.kind == AdditiveBlock::coded) {
                std::fill_n(v, count, 1.0);
                continue;
            }
            for (int k = 0; k < count; ++k) {
                at[kRows + k] = at[k] + 1;
                v[kRows + k] = block.values[first + k];
                v[k] = 1.0 - v[kRows + k];
            }
        }
        const auto entries = [&](size_t b) {
            return b < n && blocks_[b].kind == AdditiveBlock::hat ? 2 : 1;
        };
        for (int k = 0; k < count; ++k) seen += weights_ ? weights_[first + k] : 1.0;
        for (size_t a = 0; a <= n; ++a)
            for (int e = 0; e < entries(a); ++e) {
                const int32_t* rows = place.data() + (2 * a + e) * kRows;
                const double* v = value.data() + (2 * a + e) * kRows;
                for (int k = 0; k < count; ++k) {
                    const double w = weights_ ? weights_[first + k] : 1.0;
                    scaled[k] = w * v[k] * (factor ? factor[(first + k) * factor_stride] : 1.0);
                }
                for (size_t b = a; b <= n; ++b)
                    for (int f = b == a ? e : 0; f < entries(b); ++f) {
                        const int32_t* columns = place.data() + (2 * b + f) * kRows;
                        const double* u = value.data() + (2 * b + f) * kRows;
                        for (int k = 0; k < count; ++k)
                            out[rows[k] * stride + columns[k]] += scaled[k] * u[k];
                    }
            }
    }
    const double scale = seen > 0 ? total_weight_ / seen : 0.0;
    if (step > 1)
        for (int64_t i = 0; i < parameters_; ++i)
            for (int64_t j = i; j < parameters_; ++j) out[i * stride + j] *= scale;
}

void AdditiveRows::mean_curvature(const double* probabilities, double* out) const {
    std::vector<double> sums(pad_);
    over_rows(pad_, sums.data(), [&](double* own, int64_t first, int count) {
        for (int k = 0; k < count; ++k) {
            const double w = weights_ ? weights_[first + k] : 1.0;
            for (int c = 0; c < pad_; ++c) {
                const double p = probabilities[(first + k) * pad_ + c];
                own[c] += w * p * (1.0 - p);
            }
        }
    });
    for (int c = 0; c < outputs(); ++c) out[c] = sums[c] / total_weight_;
}

}  // namespace lessnaive
