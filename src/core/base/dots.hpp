// Inner products of many vectors with many others: the heart of second derivatives.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/simd.hpp"

namespace lessnaive {

// Four numbers at a time, in four separate sums whatever the machine, so that results agree.
#if defined(__GNUC__) || defined(__clang__)
typedef double Four __attribute__((vector_size(32), aligned(8), may_alias));
#else
struct Four {
    double v[4];
    Four& operator+=(const Four& other) {
        for (int l = 0; l < 4; ++l) v[l] += other.v[l];
        return *this;
    }
    Four operator*(const Four& other) const {
        Four out;
        for (int l = 0; l < 4; ++l) out.v[l] = v[l] * other.v[l];
        return out;
    }
    double operator[](int l) const { return v[l]; }
};
#endif

// out[r * stride + s] += a[r] . b[s] for kA x kB vectors of a length divisible by 4.
template <int kA, int kB>
LESSNAIVE_WIDE void add_dot_tile(const double* const* a, const double* const* b, int length,
                                 double* out, int64_t stride) {
    Four sums[kA][kB] = {};
    for (int k = 0; k < length; k += 4)
        for (int r = 0; r < kA; ++r) {
            const Four left = *reinterpret_cast<const Four*>(a[r] + k);
            for (int s = 0; s < kB; ++s)
                sums[r][s] += left * *reinterpret_cast<const Four*>(b[s] + k);
        }
    for (int r = 0; r < kA; ++r)
        for (int s = 0; s < kB; ++s) {
            const Four& sum = sums[r][s];
            out[r * stride + s] += (sum[0] + sum[1]) + (sum[2] + sum[3]);
        }
}

// The same for kA vectors and up to four others.
template <int kA>
inline void add_dot_tile(const double* const* a, const double* const* b, size_t n_b, int length,
                         double* out, int64_t stride) {
    switch (n_b) {
        case 1:
            return add_dot_tile<kA, 1>(a, b, length, out, stride);
        case 2:
            return add_dot_tile<kA, 2>(a, b, length, out, stride);
        case 3:
            return add_dot_tile<kA, 3>(a, b, length, out, stride);
        default:
            return add_dot_tile<kA, 4>(a, b, length, out, stride);
    }
}

// out[i * stride + k] += a[i] . b[k]; with `half` (a and b of the same number) at least for k >= i.
inline void add_dots(const double* const* a, size_t n_a, const double* const* b, size_t n_b,
                     int length, bool half, double* out, int64_t stride) {
    // Twelve sums and what is added to them fill the registers; four vectors stay in the cache.
    constexpr size_t kA = 3, kB = 4;
    for (size_t k = 0; k < n_b; k += kB) {
        const size_t width = std::min(kB, n_b - k);
        const size_t end = half ? std::min(n_a, k + width) : n_a;
        double* tile = out + static_cast<int64_t>(k);
        size_t i = 0;
        for (; i + kA <= end; i += kA)
            add_dot_tile<kA>(a + i, b + k, width, length, tile + static_cast<int64_t>(i) * stride,
                             stride);
        for (; i < end; ++i)
            add_dot_tile<1>(a + i, b + k, width, length, tile + static_cast<int64_t>(i) * stride,
                            stride);
    }
}

}  // namespace lessnaive
