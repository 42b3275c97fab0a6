#include "table/block.hpp"

#include <algorithm>
#include <cmath>

#include "base/dots.hpp"
#include "base/exponential.hpp"
#include "base/simd.hpp"

namespace lessnaive::block {
namespace {

// Columns that are handled together: reading and writing sums costs more than adding to them.
constexpr int kMultiplesTogether = 4;
constexpr int kDotsTogether = 8;
// Of several outputs so many are handled together: their sums of eight rows stay in registers, and
// these columns in the fastest cache.
constexpr int kOutputsTogether = 5;
constexpr int64_t kColumnsInCache = 8;

// Columns are too short for the processor to foresee what comes next.
LESSNAIVE_INLINE void prefetch(const double* place) {
#if defined(__GNUC__)
    __builtin_prefetch(place);
#else
    static_cast<void>(place);
#endif
}

template <int kColumns>
LESSNAIVE_WIDE void add_some(const double* columns, const double* factors, double* out) {
    for (int k = 0; k < kRows; ++k) {
        double sum = out[k];
        for (int t = 0; t < kColumns; ++t) sum += factors[t] * columns[t * kRows + k];
        out[k] = sum;
    }
}

template <int kOutputs>
LESSNAIVE_WIDE void add_to_outputs(const double* columns, const double* factors, int64_t stride,
                                   int64_t count, double* out) {
    for (int k = 0; k < kRows; k += 8) {
        Four sums[kOutputs][2];
        for (int o = 0; o < kOutputs; ++o)
            for (int h = 0; h < 2; ++h)
                sums[o][h] = *reinterpret_cast<const Four*>(out + o * kRows + k + 4 * h);
        for (int64_t j = 0; j < count; ++j) {
            const double* column = columns + j * kRows + k;
            prefetch(column + kColumnsInCache * kRows);
            const Four first = *reinterpret_cast<const Four*>(column);
            const Four second = *reinterpret_cast<const Four*>(column + 4);
            for (int o = 0; o < kOutputs; ++o) {
                const double f = factors[o * stride + j];
                const Four factor = {f, f, f, f};
                sums[o][0] += factor * first;
                sums[o][1] += factor * second;
            }
        }
        for (int o = 0; o < kOutputs; ++o)
            for (int h = 0; h < 2; ++h)
                *reinterpret_cast<Four*>(out + o * kRows + k + 4 * h) = sums[o][h];
    }
}

template <int kColumns>
void add_some_dots(const double* columns, const double* vector, double* out) {
    const double* each[kColumns];
    for (int t = 0; t < kColumns; ++t) each[t] = columns + t * kRows;
    add_dot_tile<kColumns, 1>(each, &vector, kRows, out, 1);
}

}  // namespace

// In four sums whatever the machine, as in dots.hpp.
LESSNAIVE_WIDE double sum(const double* values) {
    Four out = {};
    for (int k = 0; k < kRows; k += 4) out += *reinterpret_cast<const Four*>(values + k);
    return (out[0] + out[1]) + (out[2] + out[3]);
}

LESSNAIVE_WIDE void add(const double* values, double* out) {
    for (int k = 0; k < kRows; ++k) out[k] += values[k];
}

LESSNAIVE_WIDE void subtract(const double* minus, double* out) {
    for (int k = 0; k < kRows; ++k) out[k] -= minus[k];
}

LESSNAIVE_WIDE void multiply(const double* a, const double* b, double* out) {
    for (int k = 0; k < kRows; ++k) out[k] = a[k] * b[k];
}

LESSNAIVE_WIDE void divide(const double* by, double* out) {
    for (int k = 0; k < kRows; ++k) out[k] /= by[k];
}

LESSNAIVE_WIDE void keep_larger(const double* values, double* out) {
    for (int k = 0; k < kRows; ++k) out[k] = values[k] > out[k] ? values[k] : out[k];
}

LESSNAIVE_WIDE void subtract_weighted(const double* minus, const double* weight, double* out) {
    for (int k = 0; k < kRows; ++k) out[k] = weight[k] * (out[k] - minus[k]);
}

LESSNAIVE_WIDE void second_derivative(const double* weight, const double* p, const double* q,
                                      double one, double* out) {
    for (int k = 0; k < kRows; ++k) out[k] = weight[k] * p[k] * (one - q[k]);
}

LESSNAIVE_WIDE void subtract_center(double center, int count, double* out) {
    for (int k = 0; k < count; ++k) {
        const double away = out[k] - center;
        out[k] = away == away ? away : 0.0;
    }
}

void add_multiples(const double* columns, const double* factors, int64_t count, double* out) {
    int64_t j = 0;
    for (; j + kMultiplesTogether <= count; j += kMultiplesTogether)
        add_some<kMultiplesTogether>(columns + j * kRows, factors + j, out);
    for (; j < count; ++j) add_some<1>(columns + j * kRows, factors + j, out);
}

void add_dots(const double* columns, const double* vector, int64_t count, double* out) {
    int64_t j = 0;
    for (; j + kDotsTogether <= count; j += kDotsTogether)
        add_some_dots<kDotsTogether>(columns + j * kRows, vector, out + j);
    for (; j < count; ++j) add_some_dots<1>(columns + j * kRows, vector, out + j);
}

void add_multiples(const double* columns, const double* factors, int64_t stride, int64_t count,
                   int outputs, double* out) {
    for (int64_t j = 0; j < count; j += kColumnsInCache) {
        const int64_t width = std::min(kColumnsInCache, count - j);
        const double* some = columns + j * kRows;
        int o = 0;
        for (; o + kOutputsTogether <= outputs; o += kOutputsTogether)
            add_to_outputs<kOutputsTogether>(some, factors + o * stride + j, stride, width,
                                             out + o * kRows);
        for (; o + 2 <= outputs; o += 2)
            add_to_outputs<2>(some, factors + o * stride + j, stride, width, out + o * kRows);
        for (; o < outputs; ++o)
            add_to_outputs<1>(some, factors + o * stride + j, stride, width, out + o * kRows);
    }
}

void add_dots(const double* columns, const double* vectors, int64_t stride, int64_t count,
              int outputs, double* out) {
    constexpr int64_t kTogether = 4;
    const double *some[kTogether], *each[kTogether];
    for (int64_t j = 0; j < count; j += kTogether) {
        const int64_t width = std::min(kTogether, count - j);
        for (int64_t t = 0; t < width; ++t) some[t] = columns + (j + t) * kRows;
        for (int64_t o = 0; o < outputs; o += kTogether) {
            const int64_t height = std::min<int64_t>(kTogether, outputs - o);
            for (int64_t t = 0; t < height; ++t) each[t] = vectors + (o + t) * kRows;
            lessnaive::add_dots(each, height, some, width, kRows, false, out + o * stride + j,
                                stride);
        }
    }
}

LESSNAIVE_WIDE void exponentials(double* values) { lessnaive::exponentials(values, kRows); }

LESSNAIVE_WIDE void logistic(const double* is_second, const double* weight, double* odds,
                             double* loss) {
    double small[kRows];
    for (int k = 0; k < kRows; ++k) small[k] = -std::fabs(odds[k]);
    exponentials(small);
    for (int k = 0; k < kRows; ++k) {
        // log(1 + exp(t)) - y t
        const double t = odds[k], positive = 0.5 * (t + std::fabs(t));
        loss[k] = weight[k] * (positive + log_one_plus(small[k]) - is_second[k] * t);
        odds[k] = (t >= 0 ? 1.0 : small[k]) / (1.0 + small[k]);
    }
}

LESSNAIVE_WIDE void both_probabilities(double* odds, double* first) {
    double small[kRows];
    for (int k = 0; k < kRows; ++k) small[k] = -std::fabs(odds[k]);
    exponentials(small);
    for (int k = 0; k < kRows; ++k) {
        const double t = odds[k], larger = 1.0 / (1.0 + small[k]), smaller = small[k] * larger;
        odds[k] = t >= 0 ? larger : smaller;
        first[k] = t >= 0 ? smaller : larger;
    }
}

}  // namespace lessnaive::block
