#include "table/moments.hpp"

#include <algorithm>
#include <cmath>

#include "base/parallel.hpp"
#include "base/simd.hpp"

namespace lessnaive {
namespace {

constexpr int kBlock = 512;
constexpr int kLanes = 4;
constexpr int64_t kColumnsPerTask = 64;
constexpr int64_t kMaxSegments = 64;
constexpr int64_t kMinSegmentRows = 1 << 15;
constexpr int64_t kScratchBytes = int64_t{64} << 20;

// (high, low) += value, exactly but for the rounding of `low`.
void add_exactly(double& high, double& low, double value) {
    const double sum = high + value;
    const double part = sum - high;
    low += (high - (sum - part)) + (value - part);
    high = sum;
    const double carried = high + low;
    low = low - (carried - high);
    high = carried;
}

struct Sums {
    double weight, first, second;
};

double total(const double* lanes) { return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]); }

// Sums of w, w d and w d^2 with d = (x - reference) - shift, over the rows that have a value. Rows
// of weight 0 are left out, whatever they hold.
template <bool weighted>
Sums deviations(const double* x, const double* w, int count, double reference, double shift) {
    double weight[kLanes] = {}, first[kLanes] = {}, second[kLanes] = {};
    const auto add = [&](int k, int lane) {
        const bool present = x[k] == x[k] && (!weighted || w[k] > 0);
        const double d = present ? (x[k] - reference) - shift : 0.0;
        const double unit = weighted ? w[k] : 1.0;
        weight[lane] += present ? unit : 0.0;
        first[lane] += unit * d;
        second[lane] += unit * d * d;
    };
    int k = 0;
    for (; k + kLanes <= count; k += kLanes)
        for (int lane = 0; lane < kLanes; ++lane) add(k + lane, lane);
    for (; k < count; ++k) add(k, 0);
    return {total(weight), total(first), total(second)};
}

// The sum of x - reference; what is not a number makes it none.
LESSNAIVE_WIDE double plain_sum(const double* x, int count, double reference) {
    double sum[kLanes] = {};
    int k = 0;
    for (; k + kLanes <= count; k += kLanes)
        for (int lane = 0; lane < kLanes; ++lane) sum[lane] += x[k + lane] - reference;
    for (; k < count; ++k) sum[0] += x[k] - reference;
    return total(sum);
}

// Sums of 1, d and d^2 over rows that all have a value; what is not a number makes these none.
LESSNAIVE_WIDE Sums plain_deviations(const double* x, int count, double reference, double shift) {
    double first[kLanes] = {}, second[kLanes] = {};
    int k = 0;
    for (; k + kLanes <= count; k += kLanes) {
        for (int lane = 0; lane < kLanes; ++lane) {
            const double d = (x[k + lane] - reference) - shift;
            first[lane] += d;
            second[lane] += d * d;
        }
    }
    for (; k < count; ++k) {
        const double d = (x[k] - reference) - shift;
        first[0] += d;
        second[0] += d * d;
    }
    return {static_cast<double>(count), total(first), total(second)};
}

// The moments of values of which the deviations from about their mean are known.
Moments around(double reference, double shift, const Sums& about_mean) {
    Moments out;
    out.weight = about_mean.weight;
    const double rest = about_mean.first / out.weight;
    out.mean = reference;
    add_exactly(out.mean, out.mean_low, shift);
    add_exactly(out.mean, out.mean_low, rest);
    out.squares = about_mean.second - rest * about_mean.first;
    return out;
}

// The values of one class in one block: a first sweep finds the mean, a second one the squared
// deviations from it; the block is in the innermost cache for both.
template <bool weighted>
Moments block_moments(const double* x, const double* w, int count, double reference) {
    Moments out;
    if (!weighted) {
        const double shift = plain_sum(x, count, reference) / count;
        if (shift == shift)  // else values are missing
            return around(reference, shift, plain_deviations(x, count, reference, shift));
    }
    const Sums about_reference = deviations<weighted>(x, w, count, reference, 0.0);
    out.weight = about_reference.weight;
    if (weighted) {
        for (int k = 0; k < count; ++k)
            if (x[k] != x[k]) out.missing += w[k];
    } else {
        out.missing = count - out.weight;
    }
    if (out.weight == 0) return out;
    const double shift = about_reference.first / out.weight;
    const double missing = out.missing;
    out = around(reference, shift, deviations<weighted>(x, w, count, reference, shift));
    out.missing = missing;
    return out;
}

// Rows of a block ordered by class: `order` and, for class c, the range start[c]..start[c + 1].
struct Buckets {
    explicit Buckets(int classes) : start(classes + 1) {}

    void fill(const uint32_t* labels, int count) {
        std::fill(start.begin(), start.end(), 0);
        for (int k = 0; k < count; ++k) ++start[labels[k] + 1];
        for (size_t c = 1; c < start.size(); ++c) start[c] += start[c - 1];
        next.assign(start.begin(), start.end());
        for (int k = 0; k < count; ++k) order[next[labels[k]]++] = k;
    }

    std::vector<int32_t> start, next;
    int32_t order[kBlock];
};

// A value to measure deviations from: one that counts, for it must be near the mean.
template <bool weighted>
double first_value(const double* x, const double* w, int count) {
    for (int k = 0; k < count; ++k)
        if (x[k] == x[k] && (!weighted || w[k] > 0)) return x[k];
    return 0.0;
}

template <bool weighted>
void segment_moments(const std::vector<Column>& columns, int64_t column_begin, int64_t column_end,
                     const Column& labels, const double* weights, int64_t row_begin,
                     int64_t row_end, int classes, Moments* out) {
    const CodedColumn label_codes{labels, 0, classes};
    Buckets buckets(classes);
    uint32_t label_block[kBlock];
    double x[kBlock], w[kBlock];
    for (int64_t first = row_begin; first < row_end; first += kBlock) {
        const int block = static_cast<int>(std::min<int64_t>(kBlock, row_end - first));
        load_codes(label_codes, first, block, label_block);
        buckets.fill(label_block, block);
        if (weighted)
            for (int k = 0; k < block; ++k) w[k] = weights[first + buckets.order[k]];
        for (int64_t j = column_begin; j < column_end; ++j) {
            gather_numbers(columns[j], first, buckets.order, block, x);
            for (int c = 0; c < classes; ++c) {
                const int begin = buckets.start[c], count = buckets.start[c + 1] - begin;
                if (count == 0) continue;
                Moments& sum = out[j * classes + c];
                const double reference =
                    sum.weight > 0 ? sum.mean : first_value<weighted>(x + begin, w + begin, count);
                merge(sum, block_moments<weighted>(x + begin, w + begin, count, reference));
            }
        }
    }
}

}  // namespace

void merge(Moments& into, const Moments& from) {
    into.missing += from.missing;
    if (from.weight == 0) return;
    if (into.weight == 0) {
        const double missing = into.missing;
        into = from;
        into.missing = missing;
        return;
    }
    const double weight = into.weight + from.weight;
    const double share = from.weight / weight;
    const double delta = (from.mean - into.mean) + (from.mean_low - into.mean_low);
    add_exactly(into.squares, into.squares_low, from.squares);
    add_exactly(into.squares, into.squares_low, from.squares_low);
    add_exactly(into.squares, into.squares_low, delta * delta * into.weight * share);
    add_exactly(into.mean, into.mean_low, delta * share);
    into.weight = weight;
}

void moments(const std::vector<Column>& columns, const Column& labels, const double* weights,
             int64_t rows, int classes, Moments* out) {
    const int64_t width = static_cast<int64_t>(columns.size());
    const int64_t cells = width * classes;
    if (cells == 0) return;
    const int64_t affordable =
        std::max<int64_t>(1, kScratchBytes / (cells * static_cast<int64_t>(sizeof(Moments))));
    const int64_t segments = std::min({kMaxSegments, affordable, 1 + rows / kMinSegmentRows});
    const int64_t segment_rows = (rows + segments - 1) / segments;
    const int64_t chunks = (width + kColumnsPerTask - 1) / kColumnsPerTask;

    std::vector<Moments> parts(segments * cells);
    parallel_for(segments * chunks, rows * width, [&](int64_t task) {
        const int64_t segment = task / chunks, chunk = task % chunks;
        const auto run = weights == nullptr ? segment_moments<false> : segment_moments<true>;
        run(columns, chunk * kColumnsPerTask, std::min(width, (chunk + 1) * kColumnsPerTask),
            labels, weights, segment * segment_rows, std::min(rows, (segment + 1) * segment_rows),
            classes, parts.data() + segment * cells);
    });
    for (int64_t segment = 0; segment < segments; ++segment)
        for (int64_t i = 0; i < cells; ++i) merge(out[i], parts[segment * cells + i]);
}

}  // namespace lessnaive
