// exp and log without branches, so that loops over them become wide. Relative errors are a few
// units in the last place; the same operations in the same order on every machine give the same
// numbers.
#pragma once

#include <cstdint>
#include <cstring>

#include "base/simd.hpp"

namespace lessnaive {

LESSNAIVE_INLINE uint64_t bits_of(double value) {
    uint64_t out;
    std::memcpy(&out, &value, sizeof out);
    return out;
}

LESSNAIVE_INLINE double double_of(uint64_t bits) {
    double out;
    std::memcpy(&out, &bits, sizeof out);
    return out;
}

// exp(x) is a normal number from here on; no sum with a 1 in it notices what is smaller.
constexpr double kLowestExponent = -708.0;

// exp(x) for kLowestExponent <= x <= 0.
LESSNAIVE_INLINE double exp_of_nonpositive(double x) {
    constexpr double kLog2e = 1.4426950408889634074;
    constexpr double kLn2High = 6.93147180369123816490e-01, kLn2Low = 1.90821492927058770002e-10;
    constexpr double kRound = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to an integer
    const double shifted = x * kLog2e + kRound;
    const double n = shifted - kRound;
    const double r = (x - n * kLn2High) - n * kLn2Low;  // |r| <= log(2) / 2: 12 terms are enough
    double p = 1.0 / 479001600;
    p = p * r + 1.0 / 39916800;
    p = p * r + 1.0 / 3628800;
    p = p * r + 1.0 / 362880;
    p = p * r + 1.0 / 40320;
    p = p * r + 1.0 / 5040;
    p = p * r + 1.0 / 720;
    p = p * r + 1.0 / 120;
    p = p * r + 1.0 / 24;
    p = p * r + 1.0 / 6;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    // n stands in the low bits of `shifted`: it is added to the exponent of p.
    return double_of(bits_of(p) + (bits_of(shifted) << 52));
}

// values = exp(values) for values <= 0, or 0 where that would be no normal number; NaN stays NaN.
// Three loops, since one with both choices in it does not become wide.
LESSNAIVE_INLINE void exponentials(double* values, int count) {
    for (int i = 0; i < count; ++i)
        values[i] = values[i] < kLowestExponent ? kLowestExponent : values[i];
    for (int i = 0; i < count; ++i) values[i] = exp_of_nonpositive(values[i]);
    constexpr double kSmallest = 3.4e-308;  // a little above exp(kLowestExponent)
    for (int i = 0; i < count; ++i) values[i] = values[i] < kSmallest ? 0.0 : values[i];
}

// log(x) for a normal x >= 1.
LESSNAIVE_INLINE double log_of_one_or_more(double x) {
    constexpr double kLn2High = 6.93147180369123816490e-01, kLn2Low = 1.90821492927058770002e-10;
    constexpr uint64_t kSqrtHalf = 0x3fe6a09e667f3bcdULL;  // bits of sqrt(1/2)
    constexpr uint64_t kMagic = 0x4330000000000000ULL;     // bits of 2^52
    const uint64_t excess = bits_of(x) - kSqrtHalf;
    const uint64_t exponent = excess >> 52;
    const double e = double_of(exponent | kMagic) - 4503599627370496.0;
    const double m = double_of((excess & 0x000fffffffffffffULL) + kSqrtHalf);
    // log m = 2 atanh z, |z| < 0.172: the series to z^21 is exact enough.
    const double z = (m - 1.0) / (m + 1.0), s = z * z;
    double p = 1.0 / 21;
    p = p * s + 1.0 / 19;
    p = p * s + 1.0 / 17;
    p = p * s + 1.0 / 15;
    p = p * s + 1.0 / 13;
    p = p * s + 1.0 / 11;
    p = p * s + 1.0 / 9;
    p = p * s + 1.0 / 7;
    p = p * s + 1.0 / 5;
    p = p * s + 1.0 / 3;
    return e * kLn2High + (e * kLn2Low + (2.0 * z + 2.0 * z * s * p));
}

// log(1 + x) for x >= 0, with what rounding takes from a small x in the sum put back.
LESSNAIVE_INLINE double log_one_plus(double x) {
    const double sum = 1.0 + x;
    return log_of_one_or_more(sum) + (x - (sum - 1.0)) / sum;
}

}  // namespace lessnaive
