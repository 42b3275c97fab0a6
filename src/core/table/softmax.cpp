#include "table/softmax.hpp"

#include <algorithm>

#include "base/exponential.hpp"
#include "base/padding.hpp"
#include "base/simd.hpp"

namespace lessnaive {
namespace {

// Rows at a time: what is kept of them stays in the nearest cache.
constexpr int kRows = 64;

LESSNAIVE_INLINE double larger(double a, double b) { return a > b ? a : b; }

LESSNAIVE_INLINE double largest(const double* score, int classes) {
    double out = score[0];
    int c = 1;
    if (classes >= 8) {  // four at a time, which need not wait for each other
        double most[4] = {score[0], score[1], score[2], score[3]};
        for (c = 4; c + 4 <= classes; c += 4)
            for (int l = 0; l < 4; ++l) most[l] = larger(score[c + l], most[l]);
        out = larger(larger(most[0], most[1]), larger(most[2], most[3]));
    }
    for (; c < classes; ++c) out = larger(score[c], out);
    return out;
}

// At most kRows rows. Each step is a loop of its own, since short loops over classes do not become
// wide.
template <int kPad>
LESSNAIVE_WIDE void normalize_rows(const double* scores, int count, int classes, int pad, int label,
                                   double* probabilities, double* log_own) {
    const int width = kPad > 0 ? kPad : pad;
    double rest[kRows], inverse[kRows];
    for (int k = 0; k < count; ++k) {
        const double* score = scores + k * width;
        const double highest = largest(score, classes);
        log_own[k] = score[label] - highest;
        for (int c = 0; c < width; ++c) probabilities[k * width + c] = score[c] - highest;
        for (int c = classes; c < width; ++c) probabilities[k * width + c] = kLowestExponent;
    }
    exponentials(probabilities, count * width);
    for (int k = 0; k < count; ++k) {
        const double* p = probabilities + k * width;
        // The sum without one of the highest, which are exactly 1, so that a small rest keeps its
        // digits; in four parts, which need not wait for each other.
        double ones[4] = {-1.0, 0.0, 0.0, 0.0}, small[4] = {};
        int c = 0;
        for (; c + 4 <= width; c += 4)
            for (int l = 0; l < 4; ++l) {
                const double is_one = static_cast<double>(p[c + l] == 1.0);
                ones[l] += is_one;
                small[l] += p[c + l] - is_one;
            }
        for (; c < width; ++c) {
            const double is_one = static_cast<double>(p[c] == 1.0);
            ones[0] += is_one;
            small[0] += p[c] - is_one;
        }
        rest[k] = ((ones[0] + ones[1]) + (ones[2] + ones[3])) +
                  ((small[0] + small[1]) + (small[2] + small[3]));
    }
    for (int k = 0; k < count; ++k) {
        inverse[k] = 1.0 / (1.0 + rest[k]);
        log_own[k] -= log_one_plus(rest[k]);
    }
    for (int k = 0; k < count; ++k)
        for (int c = 0; c < width; ++c) probabilities[k * width + c] *= inverse[k];
}

// The same for two classes, of which one exponential is enough.
LESSNAIVE_WIDE void normalize_pairs(const double* scores, int count, int label,
                                    double* probabilities, double* log_own) {
    double ahead[kRows], small[kRows];
    for (int k = 0; k < count; ++k) {
        const double gap = scores[2 * k + 1] - scores[2 * k];
        ahead[k] = label == 1 ? gap : -gap;
        small[k] = gap < 0 ? gap : -gap;
    }
    exponentials(small, count);
    for (int k = 0; k < count; ++k) {
        log_own[k] = (ahead[k] < 0 ? ahead[k] : 0.0) - log_one_plus(small[k]);
        const double larger = 1.0 / (1.0 + small[k]), smaller = small[k] * larger;
        const double own = ahead[k] < 0 ? smaller : larger, other = ahead[k] < 0 ? larger : smaller;
        probabilities[2 * k] = label == 1 ? other : own;
        probabilities[2 * k + 1] = label == 1 ? own : other;
    }
}

}  // namespace

void softmax_rows(const double* scores, int count, int classes, int pad, int label,
                  double* probabilities, double* log_own) {
    for (int first = 0; first < count; first += kRows) {
        const int rows = std::min(kRows, count - first);
        const double* from = scores + first * pad;
        double* to = probabilities + first * pad;
        if (classes == 2) {
            normalize_pairs(from, rows, label, to, log_own + first);
            continue;
        }
        with_padding(pad, [&](auto width) {
            normalize_rows<width()>(from, rows, classes, pad, label, to, log_own + first);
        });
    }
}

}  // namespace lessnaive
