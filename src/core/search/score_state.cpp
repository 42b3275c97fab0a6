#include "search/score_state.hpp"

#include <algorithm>
#include <cmath>

#include "base/exponential.hpp"
#include "base/padding.hpp"
#include "base/parallel.hpp"
#include "base/simd.hpp"
#include "table/softmax.hpp"

namespace lessnaive {
namespace {

constexpr int kBlock = kEvidenceBlock;
// Rows are cut into at most this many tasks.
constexpr int64_t kMostTasks = 64;
constexpr int64_t kLeastBlocks = 16;
// Factors up to exp(this) either way cannot bring back a probability that is too small to hold.
constexpr double kLargestMove = 230.0;
// Numbers that are multiplied at the same time, whatever the machine, so that results agree.
constexpr int kLanes = 4;

// Calls work(block), which returns the loss of a block, for all blocks, and adds up.
template <class Work>
double sum_over_blocks(const Evidence& evidence, Work&& work) {
    const int64_t blocks = static_cast<int64_t>(evidence.blocks().size());
    const int64_t each = std::max(kLeastBlocks, (blocks + kMostTasks - 1) / kMostTasks);
    const int64_t tasks = (blocks + each - 1) / each;
    std::vector<double> parts(tasks, 0.0);
    parallel_for(tasks, evidence.rows() * evidence.pad() / 2, [&](int64_t task) {
        const int64_t end = std::min(blocks, (task + 1) * each);
        for (int64_t b = task * each; b < end; ++b) parts[task] += work(evidence.blocks()[b]);
    });
    double sum = 0;
    for (double part : parts) sum += part;
    return sum;
}

// sums (count) = sum over classes of probability x factor.
template <int kPad, class Code>
LESSNAIVE_WIDE void mix_rows(const Code* codes, const double* factors, const double* probabilities,
                             int count, int pad, double* sums) {
    const int width = kPad > 0 ? kPad : pad;
    for (int k = 0; k < count; ++k) {
        const double* p = probabilities + k * width;
        const double* factor = factors + int64_t{codes[k]} * width;
        double sum = 0;
        for (int c = 0; c < width; ++c) sum += p[c] * factor[c];
        sums[k] = sum;
    }
}

// Sum of the logarithms of kBlock numbers: that of their product, whose factors are kept near 1 by
// taking powers of two out of them.
LESSNAIVE_WIDE double sum_of_logs(const double* values) {
    constexpr uint64_t kSqrtHalf = 0x3fe6a09e667f3bcdULL;  // bits of sqrt(1/2)
    constexpr uint64_t kMantissa = 0x000fffffffffffffULL;
    constexpr double kLn2 = 0.69314718055994530942;
    double product[kLanes] = {1, 1, 1, 1};
    // Exponents are added with their bias, which is even and known.
    uint64_t exponents[kLanes] = {0, 0, 0, 0};
    constexpr uint64_t kBias = 1024;
    for (int k = 0; k < kBlock; k += kLanes)
        for (int l = 0; l < kLanes; ++l) {
            const uint64_t excess = bits_of(values[k + l]) - kSqrtHalf + (kBias << 52);
            exponents[l] += excess >> 52;
            product[l] *= double_of((excess & kMantissa) + kSqrtHalf);
        }
    const int64_t exponent =
        static_cast<int64_t>(exponents[0] + exponents[1] + exponents[2] + exponents[3]) -
        static_cast<int64_t>(kBias) * kBlock;
    return std::log((product[0] * product[1]) * (product[2] * product[3])) +
           static_cast<double>(exponent) * kLn2;
}

// The factors exp(delta (e_c - e_label)) of a table (rows, pad), for each label, into
// (classes, rows, pad).
std::vector<double> make_factors(const Evidence::Coded& coded, double delta, int classes, int pad) {
    const int64_t size = coded.table_rows * pad;
    std::vector<double> out(size * classes, 0.0), powers;
    for (int label = 0; label < classes; ++label) {
        const double* table = coded.table(label, pad);
        double* factors = out.data() + label * size;
        if (label == 0 || coded.by_label) {
            powers.assign(size, 0.0);
            for (int64_t v = 0; v < coded.table_rows; ++v)
                for (int c = 0; c < classes; ++c)
                    powers[v * pad + c] = std::exp(delta * (table[v * pad + c] - table[v * pad]));
        }
        for (int64_t v = 0; v < coded.table_rows; ++v) {
            const double inverse = 1.0 / powers[v * pad + label];
            for (int c = 0; c < classes; ++c) factors[v * pad + c] = powers[v * pad + c] * inverse;
            factors[v * pad + label] = 1.0;
        }
    }
    return out;
}

// The largest difference of the evidence for two classes by one value.
double largest_gap(const Evidence::Coded& coded, int classes, int pad) {
    double out = 0;
    for (int label = 0; label < (coded.by_label ? classes : 1); ++label)
        for (int64_t v = 0; v < coded.table_rows; ++v) {
            const double* row = coded.table(label, pad) + v * pad;
            const auto ends = std::minmax_element(row, row + classes);
            out = std::max(out, *ends.second - *ends.first);
        }
    return out;
}

double log_sum_exp(const double* scores, int classes) {
    const double highest = *std::max_element(scores, scores + classes);
    double sum = 0;
    for (int c = 0; c < classes; ++c) sum += std::exp(scores[c] - highest);
    return highest + std::log(sum);
}

}  // namespace

ScoreState::ScoreState(const Evidence& evidence, const double* weights)
    : evidence_(evidence),
      places_(evidence.columns()),
      scores_(evidence.rows() * evidence.pad()),
      probabilities_(evidence.rows() * evidence.pad()) {
    for (size_t slot = 0; slot < evidence.coded().size(); ++slot) {
        const Evidence::Coded& coded = evidence.coded()[slot];
        places_[coded.place] = {true, slot};
        largest_gap_.push_back(largest_gap(coded, evidence.classes(), evidence.pad()));
    }
    for (size_t slot = 0; slot < evidence.curves().size(); ++slot)
        places_[evidence.curves()[slot].place] = {false, slot};
    reset(weights);
}

double ScoreState::loss_if(int column, double delta) const {
    const Place& place = places_[column];
    if (place.coded && std::abs(delta) * largest_gap_[place.slot] <= kLargestMove)
        return loss_ + table_loss_change(evidence_.coded()[place.slot], delta);
    return exact_loss(place, delta);
}

double ScoreState::table_loss_change(const Evidence::Coded& coded, double delta) const {
    const int pad = evidence_.pad();
    const std::vector<double> factors = make_factors(coded, delta, evidence_.classes(), pad);
    const double* weights = evidence_.weights();
    return sum_over_blocks(evidence_, [&](const Block& block) {
        const double* own = factors.data() + block.label * coded.table_rows * pad;
        const double* p = probabilities_.data() + block.first * pad;
        const uint8_t* data = coded.data.data() + block.first * coded.width;
        double sums[kBlock];
        with_padding(pad, [&](auto width) {
            visit_as_codes(data, coded.width, [&](const auto* codes) {
                mix_rows<width()>(codes, own, p, block.count, pad, sums);
            });
        });
        if (!weights) {
            std::fill(sums + block.count, sums + kBlock, 1.0);
            return sum_of_logs(sums);
        }
        double change = 0;
        for (int k = 0; k < block.count; ++k)
            change += weights[block.first + k] * std::log(sums[k]);
        return change;
    });
}

double ScoreState::exact_loss(const Place& place, double delta) const {
    const int classes = evidence_.classes(), pad = evidence_.pad();
    const double* weights = evidence_.weights();
    return sum_over_blocks(evidence_, [&](const Block& block) {
        const double* from = scores_.data() + block.first * pad;
        std::vector<double> scores(from, from + block.count * pad);
        add_scores(place, delta, block, scores.data());
        double loss = 0;
        for (int k = 0; k < block.count; ++k) {
            const double* row = scores.data() + k * pad;
            const double own = log_sum_exp(row, classes) - row[block.label];
            loss += weights ? weights[block.first + k] * own : own;
        }
        return loss;
    });
}

void ScoreState::add_scores(const Place& place, double delta, const Block& block,
                            double* scores) const {
    const int classes = evidence_.classes(), pad = evidence_.pad();
    if (place.coded) {
        const Evidence::Coded& coded = evidence_.coded()[place.slot];
        const double* table = coded.table(block.label, pad);
        uint32_t codes[kBlock];
        expand_codes(coded, block.first, block.count, codes);
        for (int k = 0; k < block.count; ++k) {
            const double* row = table + int64_t{codes[k]} * pad;
            for (int c = 0; c < classes; ++c) scores[k * pad + c] += delta * row[c];
        }
        return;
    }
    std::vector<double> curve(kBlock * classes);
    evidence_.curve_evidence(evidence_.curves()[place.slot], block.label, block.first, block.count,
                             kBlock, curve.data());
    for (int c = 0; c < classes; ++c)
        for (int k = 0; k < block.count; ++k) scores[k * pad + c] += delta * curve[c * kBlock + k];
}

void ScoreState::apply(int column, double delta) {
    const int pad = evidence_.pad();
    sum_over_blocks(evidence_, [&](const Block& block) {
        add_scores(places_[column], delta, block, scores_.data() + block.first * pad);
        return 0.0;
    });
    refresh();
}

void ScoreState::reset(const double* weights) {
    const int pad = evidence_.pad();
    sum_over_blocks(evidence_, [&](const Block& block) {
        double* scores = scores_.data() + block.first * pad;
        for (int k = 0; k < block.count; ++k)
            std::copy_n(evidence_.intercept(block.label), pad, scores + k * pad);
        for (size_t column = 0; column < places_.size(); ++column)
            if (weights[column] != 0.0) add_scores(places_[column], weights[column], block, scores);
        return 0.0;
    });
    refresh();
}

void ScoreState::refresh() {
    const int classes = evidence_.classes(), pad = evidence_.pad();
    const double* weights = evidence_.weights();
    loss_ = sum_over_blocks(evidence_, [&](const Block& block) {
        double log_own[kBlock];
        softmax_rows(scores_.data() + block.first * pad, block.count, classes, pad, block.label,
                     probabilities_.data() + block.first * pad, log_own);
        double loss = 0;
        for (int k = 0; k < block.count; ++k)
            loss -= weights ? weights[block.first + k] * log_own[k] : log_own[k];
        return loss;
    });
}

int64_t ScoreState::bytes() const {
    return static_cast<int64_t>(sizeof(double) * (scores_.size() + probabilities_.size()));
}

}  // namespace lessnaive
