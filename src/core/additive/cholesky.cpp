#include "additive/cholesky.hpp"

#include <algorithm>
#include <cmath>

#include "base/dots.hpp"
#include "base/interrupt.hpp"
#include "base/simd.hpp"

namespace lessnaive {
namespace {

constexpr int64_t kBlock = 32;
// Smaller pivots, relative to the diagonal of the matrix, are rounding.
constexpr double kRounding = 1e-13;

LESSNAIVE_WIDE double dot(const double* a, const double* b, int64_t length) {
    double sums[4] = {};
    int64_t k = 0;
    for (; k + 4 <= length; k += 4)
        for (int l = 0; l < 4; ++l) sums[l] += a[k + l] * b[k + l];
    double sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    for (; k < length; ++k) sum += a[k] * b[k];
    return sum;
}

LESSNAIVE_WIDE void subtract_multiple(const double* a, double factor, int64_t length, double* out) {
    for (int64_t k = 0; k < length; ++k) out[k] -= factor * a[k];
}

}  // namespace

Cholesky::Cholesky(int64_t size, const std::vector<double>& matrix)
    : size_(size), stride_(stride_of(size)), lower_(size * stride_, 0.0), inverse_(size) {
    pivot_.resize(size);
    for (int64_t i = 0; i < size; ++i) {
        pivot_[i] = matrix[i * stride_ + i];
        for (int64_t j = 0; j <= i; ++j) lower_[i * stride_ + j] = matrix[j * stride_ + i];
    }
    std::vector<const double*> rows, columns;
    std::vector<double> products;
    for (int64_t first = 0; first < size; first += kBlock) {
        poll();
        const int64_t end = std::min(size, first + kBlock), width = end - first;
        if (first > 0) {  // less what the columns before say
            rows.clear();
            columns.clear();
            for (int64_t i = first; i < size; ++i) rows.push_back(&lower_[i * stride_]);
            for (int64_t j = first; j < end; ++j) columns.push_back(&lower_[j * stride_]);
            products.assign(rows.size() * width, 0.0);
            add_dots(rows.data(), rows.size(), columns.data(), columns.size(),
                     static_cast<int>(first), false, products.data(), width);
            for (int64_t i = first; i < size; ++i) {
                const int64_t last = std::min(end, i + 1);
                for (int64_t j = first; j < last; ++j)
                    lower_[i * stride_ + j] -= products[(i - first) * width + j - first];
            }
        }
        factor_block(first, end);
    }
}

// Columns first .. end, from which those before are taken off already.
void Cholesky::factor_block(int64_t first, int64_t end) {
    for (int64_t i = first; i < size_; ++i) {
        double* row = &lower_[i * stride_];
        for (int64_t j = first; j < std::min(end, i); ++j) {
            const double* other = &lower_[j * stride_];
            row[j] = (row[j] - dot(row + first, other + first, j - first)) * inverse_[j];
        }
        if (i >= end) continue;
        const double left = row[i] - dot(row + first, row + first, i - first);
        row[i] = std::sqrt(left > kRounding * pivot_[i] && left > 0 ? left
                           : pivot_[i] > 0                          ? pivot_[i]
                                                                    : 1.0);
        inverse_[i] = 1.0 / row[i];
    }
}

void Cholesky::solve(double* values) const {
    for (int64_t i = 0; i < size_; ++i)
        values[i] = (values[i] - dot(&lower_[i * stride_], values, i)) * inverse_[i];
    for (int64_t i = size_ - 1; i >= 0; --i) {
        values[i] *= inverse_[i];
        subtract_multiple(&lower_[i * stride_], values[i], i, values);
    }
}

}  // namespace lessnaive
