#include "search/stagewise.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/exponential.hpp"
#include "base/interrupt.hpp"
#include "base/parallel.hpp"
#include "base/simd.hpp"

namespace lessnaive {
namespace {

constexpr int kBlock = 256;
// Half a squared distance larger than this is cut off, as in scoring.
constexpr double kFarthest = 1e200;
// The products of exponentials of two numbers above this are normal, and so are their ratios.
constexpr double kLowestShare = -300.0;
// What steps multiply shares by is kept for columns with at least so many rows for each value.
constexpr int64_t kRowsPerValue = 8;

// One row: its class, its weight, and for each class the score without the column that is looked
// at.
struct Row {
    const double* base;
    int64_t label;
    double weight;
};

// The evidence of the column in this row: of class c after t steps it is steps_of[c * stride + t].
struct Steps {
    const double* evidence;
    int64_t stride;
};

// The inner loops run over steps, so that they are wide whatever the number of classes. `worst`,
// `top`, `sum` and `gaps` are room for one number per step.
LESSNAIVE_INLINE void add_errors(const Row& row, const Steps& steps, int64_t count, int classes,
                                 double tolerance, double* __restrict worst,
                                 double* __restrict sums) {
    const double* __restrict mine = steps.evidence + row.label * steps.stride;
    for (int64_t t = 0; t < count; ++t) worst[t] = -1.0;
    for (int c = 0; c < classes; ++c) {
        if (c == row.label) continue;
        const double* __restrict other = steps.evidence + c * steps.stride;
        const double slack = c < row.label ? tolerance : -tolerance;
        const double lead = (row.base[c] - row.base[row.label]) + slack;
        for (int64_t t = 0; t < count; ++t) {
            const double now = lead + (other[t] - mine[t]);
            worst[t] = now > worst[t] ? now : worst[t];
        }
    }
    for (int64_t t = 0; t < count; ++t) sums[t] += worst[t] > 0.0 ? row.weight : 0.0;
}

LESSNAIVE_INLINE void add_log_losses(const Row& row, const Steps& steps, int64_t count, int classes,
                                     double* __restrict top, double* __restrict sum,
                                     double* __restrict gaps, double* __restrict sums) {
    const double* __restrict mine = steps.evidence + row.label * steps.stride;
    const double own = row.base[row.label];
    for (int64_t t = 0; t < count; ++t) top[t] = own + mine[t];
    for (int c = 0; c < classes; ++c) {
        const double* __restrict other = steps.evidence + c * steps.stride;
        for (int64_t t = 0; t < count; ++t) {
            const double score = row.base[c] + other[t];
            top[t] = score > top[t] ? score : top[t];
        }
    }
    for (int64_t t = 0; t < count; ++t) sum[t] = 0.0;
    for (int c = 0; c < classes; ++c) {
        const double* __restrict other = steps.evidence + c * steps.stride;
        // Two loops, as a compiler may make a branch of the limit and what follows.
        for (int64_t t = 0; t < count; ++t) {
            const double gap = (row.base[c] + other[t]) - top[t];
            gaps[t] = gap < kLowestExponent ? kLowestExponent : gap;
        }
        for (int64_t t = 0; t < count; ++t) sum[t] += exp_of_nonpositive(gaps[t]);
    }
    for (int64_t t = 0; t < count; ++t)
        sums[t] += row.weight * ((top[t] - (own + mine[t])) + log_of_one_or_more(sum[t]));
}

// What steps multiply the share of each class by, for one value of a column, and one divided by it.
struct Factors {
    std::vector<double> values, inverse;  // (classes, steps)
    bool moderate = false;

    // `now` is the evidence at the present level, followed by that after steps.
    LESSNAIVE_INLINE void find(const double* now, int64_t stride, int64_t count, int classes) {
        values.resize(classes * count);
        inverse.resize(classes * count);
        moderate = true;
        for (int c = 0; c < classes; ++c)
            for (int64_t t = 0; t < count; ++t) {
                const double gain = now[c * stride + 1 + t] - now[c * stride];
                moderate = moderate && std::fabs(gain) < -kLowestShare;
                values[c * count + t] = std::exp(gain);
                inverse[c * count + t] = std::exp(-gain);
            }
    }
};

// Sums of logarithms of numbers of at least 1, one sum for each step. Numbers are multiplied
// instead: their exponents are added up, and the product of their fractions, which are below 2, has
// room for those of a block of rows.
class LogSums {
  public:
    explicit LogSums(int64_t steps) : fractions_(steps, 1.0), exponents_(steps, 0) {}

    LESSNAIVE_INLINE void add(const double* __restrict numbers, int64_t count) {
        constexpr uint64_t kFraction = 0x000fffffffffffffULL, kOne = 0x3ff0000000000000ULL;
        double* __restrict fractions = fractions_.data();
        uint64_t* __restrict exponents = exponents_.data();
        for (int64_t t = 0; t < count; ++t) {
            const uint64_t bits = bits_of(numbers[t]);
            exponents[t] += (bits >> 52) - (kOne >> 52);
            fractions[t] *= double_of((bits & kFraction) | kOne);
        }
    }

    // Adds what there is to sums, and begins again.
    LESSNAIVE_INLINE void move_to(double* sums) {
        constexpr double kLn2 = 6.93147180559945309417e-01;
        for (size_t t = 0; t < fractions_.size(); ++t) {
            const double whole = kLn2 * static_cast<double>(exponents_[t]);
            sums[t] += whole + log_of_one_or_more(fractions_[t]);
            fractions_[t] = 1.0;
            exponents_[t] = 0;
        }
    }

  private:
    std::vector<double> fractions_;
    std::vector<uint64_t> exponents_;
};
static_assert(kBlock < 1000, "the product of the fractions of a block must be a number");

// out[t] = sum_c shares[c] factors[c * stride + t], for so many steps that the sums are in
// registers.
template <int kSteps>
LESSNAIVE_INLINE void sum_products(const double* shares, const double* factors, int classes,
                                   int64_t stride, double* out) {
    double sums[kSteps] = {};
    for (int c = 0; c < classes; ++c)
        for (int t = 0; t < kSteps; ++t) sums[t] += shares[c] * factors[c * stride + t];
    for (int t = 0; t < kSteps; ++t) out[t] = sums[t];
}

// The same as add_log_losses, from the shares of the classes in a row and what they are multiplied
// by. `sum` is room for one number per step. Rows that count once go to `logs`, others to `sums`.
LESSNAIVE_INLINE void add_log_losses_of_shares(const double* shares, int64_t label, double weight,
                                               const Factors& factors, int64_t count, int classes,
                                               double* __restrict sum, LogSums& logs,
                                               double* __restrict sums) {
    int64_t first = 0;
    for (; first + 8 <= count; first += 8)
        sum_products<8>(shares, factors.values.data() + first, classes, count, sum + first);
    for (; first < count; first += kStepLanes)
        sum_products<kStepLanes>(shares, factors.values.data() + first, classes, count,
                                 sum + first);
    const double* __restrict own = factors.inverse.data() + label * count;
    const double share = 1.0 / shares[label];
    // Two loops, as a compiler may make a branch of the limit and what follows.
    for (int64_t t = 0; t < count; ++t) {
        const double ratio = share * sum[t] * own[t];
        sum[t] = ratio > 1.0 ? ratio : 1.0;
    }
    if (weight == 1.0) return logs.add(sum, count);
    for (int64_t t = 0; t < count; ++t) sums[t] += weight * log_of_one_or_more(sum[t]);
}

// How the steps of a column are looked at, and the shares of the classes in each row.
struct Look {
    int64_t steps;
    StepLoss loss;
    double tolerance;
    const double* shares;
};

// Adds the losses of a block of rows, which start at row `first`. `evidence_of(k)` gives the
// evidence of row first + k at its present level, followed by that after 1, 2, ... steps.
// `factors_of(k)` gives what steps multiply shares by, or null. `work` has room for one number per
// class and three per step.
template <class EvidenceOf, class FactorsOf>
LESSNAIVE_INLINE void add_block(const ScanRows& rows, int64_t first, int count, int64_t stride,
                                const Look& look, EvidenceOf&& evidence_of, FactorsOf&& factors_of,
                                double* work, LogSums& logs, double* sums) {
    double *base = work, *room = work + rows.classes;
    uint32_t labels[kBlock];
    const CodedColumn coded{rows.labels, 0, rows.classes};
    load_codes(coded, first, count, labels);
    const bool errors = look.loss == StepLoss::error;
    for (int k = 0; k < count; ++k) {
        const double weight = rows.weights ? rows.weights[first + k] : 1.0;
        if (weight == 0) continue;
        const double* share = look.shares + (first + k) * rows.classes;
        const Factors* factors = errors || share[0] == 0 ? nullptr : factors_of(k);
        if (factors) {
            add_log_losses_of_shares(share, labels[k], weight, *factors, look.steps, rows.classes,
                                     room, logs, sums);
            continue;
        }
        const double* evidence = evidence_of(k);
        const double* scores = rows.scores + (first + k) * rows.classes;
        for (int c = 0; c < rows.classes; ++c) base[c] = scores[c] - evidence[c * stride];
        const Row row{base, labels[k], weight};
        const Steps next{evidence + 1, stride};
        if (errors)
            add_errors(row, next, look.steps, rows.classes, look.tolerance, room, sums);
        else
            add_log_losses(row, next, look.steps, rows.classes, room, room + look.steps,
                           room + 2 * look.steps, sums);
    }
    logs.move_to(sums);
}

// `factors` are those of each value as far as they are known; none are kept if there are none.
LESSNAIVE_WIDE void scan_table_block(const LevelTable& column, const ScanRows& rows, int64_t first,
                                     int count, const Look& look, std::vector<Factors>& factors,
                                     double* work, LogSums& logs, double* sums) noexcept {
    const int64_t row_size = column.width * rows.classes;
    uint32_t codes[kBlock];
    load_codes(column.coded, first, count, codes);
    const auto evidence_of = [&](int k) {
        return column.table + codes[k] * row_size + column.level;
    };
    const auto factors_of = [&](int k) -> const Factors* {
        if (factors.empty()) return nullptr;
        Factors& own = factors[codes[k]];
        if (own.values.empty()) own.find(evidence_of(k), column.width, look.steps, rows.classes);
        return own.moderate ? &own : nullptr;
    };
    add_block(rows, first, count, column.width, look, evidence_of, factors_of, work, logs, sums);
}

// `parameters` are those of the steps, [5][class][step] with factors instead of the widths, and
// `buffer` is room for one number per class and step.
LESSNAIVE_WIDE void scan_parabola_block(const LevelParabola& column, const ScanRows& rows,
                                        int64_t first, int count, const Look& look,
                                        const double* parameters, double* buffer, double* work,
                                        LogSums& logs, double* sums) noexcept {
    const int64_t stride = look.steps + 1, size = stride * rows.classes;
    const double *offset = parameters, *center = offset + size, *factor = offset + 2 * size,
                 *missing = offset + 3 * size, *weight = offset + 4 * size;
    double x[kBlock];
    load_numbers(column.column, first, count, x);
    const auto evidence_of = [&](int k) -> const double* {
        if (x[k] != x[k]) return missing;
        double* out = buffer;
        for (int64_t i = 0; i < size; ++i) {
            const double z = (x[k] - center[i]) * factor[i], half = z * z;
            out[i] = offset[i] - weight[i] * (half < kFarthest ? half : kFarthest);
        }
        return out;
    };
    const auto factors_of = [](int) -> const Factors* { return nullptr; };
    add_block(rows, first, count, stride, look, evidence_of, factors_of, work, logs, sums);
}

// Calls task(first, count) for each block of rows.
template <class Task>
void for_blocks(int64_t rows, Task&& task) {
    for (int64_t first = 0; first < rows; first += kBlock) {
        poll();
        task(first, static_cast<int>(std::min<int64_t>(kBlock, rows - first)));
    }
}

void scan_table(const LevelTable& column, const ScanRows& rows, const Look& look, double* sums) {
    std::vector<double> work(rows.classes + 3 * look.steps);
    const bool kept = kRowsPerValue * column.coded.table_rows <= rows.rows;
    std::vector<Factors> factors(kept ? column.coded.table_rows : 0);
    LogSums logs(look.steps);
    for_blocks(rows.rows, [&](int64_t first, int count) {
        scan_table_block(column, rows, first, count, look, factors, work.data(), logs, sums);
    });
}

void scan_parabola(const LevelParabola& column, const ScanRows& rows, const Look& look,
                   double* sums) {
    const int64_t stride = look.steps + 1, size = stride * rows.classes;
    std::vector<double> work(rows.classes + 3 * look.steps), buffer(size), parameters(5 * size);
    for (int64_t p = 0; p < 5 * rows.classes; ++p) {
        const double* from = column.parameters + p * column.width + column.level;
        std::copy(from, from + stride, parameters.begin() + p * stride);
    }
    double* factor = parameters.data() + 2 * size;
    for (int64_t i = 0; i < size; ++i) factor[i] = std::sqrt(0.5) / factor[i];
    LogSums logs(look.steps);
    for_blocks(rows.rows, [&](int64_t first, int count) {
        scan_parabola_block(column, rows, first, count, look, parameters.data(), buffer.data(),
                            work.data(), logs, sums);
    });
}

// The exponentials of the scores of each row less the largest; 0 for the first class of rows where
// they differ so much that products would be lost.
LESSNAIVE_WIDE void find_shares(const ScanRows& rows, double* out) {
    for (int64_t i = 0; i < rows.rows; ++i) {
        const double* scores = rows.scores + i * rows.classes;
        double* own = out + i * rows.classes;
        const double top = *std::max_element(scores, scores + rows.classes);
        double lowest = 0.0;
        for (int c = 0; c < rows.classes; ++c) {
            own[c] = scores[c] - top;
            lowest = own[c] < lowest ? own[c] : lowest;
        }
        exponentials(own, rows.classes);
        if (!(lowest > kLowestShare)) own[0] = 0.0;
    }
}

}  // namespace

void scan_steps(const std::vector<LevelTable>& tables, const std::vector<LevelParabola>& parabolas,
                const ScanRows& rows, int64_t steps, StepLoss loss, double tolerance, double* out) {
    const int64_t n_tables = static_cast<int64_t>(tables.size());
    const int64_t tasks = n_tables + static_cast<int64_t>(parabolas.size());
    std::fill_n(out, tasks * steps, 0.0);
    std::vector<double> shares(loss == StepLoss::error ? 0 : rows.rows * rows.classes);
    if (!shares.empty()) find_shares(rows, shares.data());
    const Look look{steps, loss, tolerance, shares.data()};
    // A wide step costs much less than what a cell stands for there.
    parallel_for(tasks, tasks * rows.rows * steps / 16, [&](int64_t j) {
        double* sums = out + j * steps;
        if (j < n_tables)
            scan_table(tables[j], rows, look, sums);
        else
            scan_parabola(parabolas[j - n_tables], rows, look, sums);
    });
}

}  // namespace lessnaive
