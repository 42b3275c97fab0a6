#include "weights/evidence_pass.hpp"

#include <algorithm>
#include <type_traits>

#include "base/interrupt.hpp"
#include "base/padding.hpp"
#include "base/simd.hpp"
#include "table/softmax.hpp"

namespace lessnaive {
namespace {

constexpr int kBlock = kEvidenceBlock;
// Columns that are handled together: reading and writing the scores costs more than adding to them.
constexpr int kTogether = 4;

// Classes at a time: what is kept of four columns for so many stays in the registers.
template <int kPad>
constexpr int kPart = kPad == 0 || kPad > 8 ? 8 : kPad;

// scores (count, pad) += sum over columns of weight x evidence.
template <int kPad, int kColumns, class Code>
LESSNAIVE_WIDE void add_weighted(const Code* const* codes, const double* const* tables,
                                 const double* weights, int count, int pad, double* scores) {
    constexpr int kWide = kPart<kPad>;
    const int width = kPad > 0 ? kPad : pad;
    for (int first = 0; first < width; first += kWide) {
        double own[kColumns * kWide];  // for all the compiler knows, writing scores changes weights
        for (int t = 0; t < kColumns; ++t)
            for (int c = 0; c < kWide; ++c) own[t * kWide + c] = weights[t * width + first + c];
        for (int k = 0; k < count; ++k) {
            double* score = scores + k * width + first;
            double sum[kWide];
            for (int c = 0; c < kWide; ++c) sum[c] = score[c];
            for (int t = 0; t < kColumns; ++t) {
                const double* row = tables[t] + int64_t{codes[t][k]} * width + first;
                for (int c = 0; c < kWide; ++c) sum[c] += own[t * kWide + c] * row[c];
            }
            for (int c = 0; c < kWide; ++c) score[c] = sum[c];
        }
    }
}

// out (kColumns, pad) += sum over rows of residual x evidence.
template <int kPad, int kColumns, class Code>
LESSNAIVE_WIDE void add_products(const Code* const* codes, const double* const* tables,
                                 const double* residuals, int count, int pad, double* out) {
    constexpr int kWide = kPart<kPad>;
    const int width = kPad > 0 ? kPad : pad;
    for (int first = 0; first < width; first += kWide) {
        double sums[kColumns * kWide] = {};
        for (int k = 0; k < count; ++k) {
            const double* residual = residuals + k * width + first;
            for (int t = 0; t < kColumns; ++t) {
                const double* row = tables[t] + int64_t{codes[t][k]} * width + first;
                for (int c = 0; c < kWide; ++c) sums[t * kWide + c] += residual[c] * row[c];
            }
        }
        for (int t = 0; t < kColumns; ++t)
            for (int c = 0; c < kWide; ++c) out[t * width + first + c] += sums[t * kWide + c];
    }
}

// The probability of the other classes: 1 - p of the label, without losing digits where p is
// near 1.
LESSNAIVE_INLINE double others(const double* p, int label, int width) {
    double sum = 0;
    for (int c = 0; c < width; ++c) sum += c == label ? 0.0 : p[c];
    return sum;
}

// Probabilities (count, pad) become weight x (p - [c = label]).
template <int kPad>
LESSNAIVE_WIDE void subtract_label(int label, const double* weights, int count, int pad,
                                   double* probabilities) {
    const int width = kPad > 0 ? kPad : pad;
    for (int k = 0; k < count; ++k) {
        double* p = probabilities + k * width;
        p[label] = -others(p, label, width);
    }
    if (!weights) return;
    for (int k = 0; k < count; ++k)
        for (int c = 0; c < width; ++c) probabilities[k * width + c] *= weights[k];
}

template <int kPad>
LESSNAIVE_WIDE void fill_rows(const double* row, int count, int pad, double* out) {
    const int width = kPad > 0 ? kPad : pad;
    for (int k = 0; k < count; ++k)
        for (int c = 0; c < width; ++c) out[k * width + c] = row[c];
}

}  // namespace

EvidencePass::EvidencePass(const Evidence& evidence, const double* weights)
    : evidence_(evidence),
      classes_(evidence.classes()),
      pad_(evidence.pad()),
      weights_(static_cast<size_t>(evidence.columns()) * pad_, 0.0),
      matters_(evidence.columns()),
      scores_(kBlock * pad_),
      curve_(kBlock * classes_),
      log_own_(kBlock) {
    const int columns = evidence.columns();
    int slot = 0;
    const auto put = [&](int64_t place) {
        bool matters = false;
        for (int c = 0; c < classes_; ++c) {
            const double w = weights_[slot * pad_ + c] = weights[c * columns + place];
            matters |= w != 0.0;
        }
        matters_[slot++] = matters;
    };
    for (const Evidence::Coded& coded : evidence.coded()) put(coded.place);
    for (const Evidence::Curve& curve : evidence.curves()) put(curve.place);
}

// Calls work(width, together, codes, tables, j) for columns j, j + 1, ...: four columns of
// one-byte codes at a time, any other column alone.
template <class Work>
void EvidencePass::over_columns(const Block& block, Work&& work) {
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

void EvidencePass::score(const Block& block, bool with_intercept) {
    poll();
    if (with_intercept)
        with_padding(pad_, [&](auto width) {
            fill_rows<width()>(evidence_.intercept(block.label), block.count, pad_, scores_.data());
        });
    else
        std::fill(scores_.begin(), scores_.end(), 0.0);
    const auto& coded = evidence_.coded();
    over_columns(block, [&](auto width, auto together, const auto* const* codes,
                            const double* const* tables, size_t j) {
        const uint8_t* first = matters_.data() + j;
        if (std::none_of(first, first + together(), [](uint8_t m) { return m; })) return;
        add_weighted<width(), together()>(codes, tables, weights_.data() + j * pad_, block.count,
                                          pad_, scores_.data());
    });
    for (size_t j = 0; j < evidence_.curves().size(); ++j) {
        if (!matters_[coded.size() + j]) continue;
        load_curve(j, block);
        const double* w = weights_.data() + (coded.size() + j) * pad_;
        for (int c = 0; c < classes_; ++c)
            for (int k = 0; k < block.count; ++k)
                scores_[k * pad_ + c] += w[c] * curve_[c * kBlock + k];
    }
}

void EvidencePass::probabilities(const Block& block) {
    softmax_rows(scores_.data(), block.count, classes_, pad_, block.label, scores_.data(),
                 log_own_.data());
}

double EvidencePass::residuals(const Block& block, LossKind loss) {
    const double* weights = evidence_.weights();
    if (weights) weights += block.first;
    if (loss == LossKind::squared) return squared_residuals(block, weights);
    with_padding(pad_, [&](auto width) {
        subtract_label<width()>(block.label, weights, block.count, pad_, scores_.data());
    });
    double sum = 0;
    for (int k = 0; k < block.count; ++k) sum -= weights ? weights[k] * log_own_[k] : log_own_[k];
    return sum;
}

double EvidencePass::squared_residuals(const Block& block, const double* weights) {
    double sum = 0;
    for (int k = 0; k < block.count; ++k) {
        double* p = scores_.data() + k * pad_;
        const double s = weights ? weights[k] : 1.0;
        const double own = -others(p, block.label, classes_);
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

void EvidencePass::add_gradient(const Block& block, double* gradient) {
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

void EvidencePass::load_curve(size_t j, const Block& block) {
    evidence_.curve_evidence(evidence_.curves()[j], block.label, block.first, block.count, kBlock,
                             curve_.data());
}

}  // namespace lessnaive
