// Arithmetic on blocks of rows: vectors of kRows numbers, which stay in the fastest cache.
#pragma once

#include <cstdint>

namespace lessnaive::block {

constexpr int kRows = 256;

double sum(const double* values);
void add(const double* values, double* out);
void subtract(const double* minus, double* out);
void multiply(const double* a, const double* b, double* out);
void divide(const double* by, double* out);
void keep_larger(const double* values, double* out);
// out = weight * (out - minus)
void subtract_weighted(const double* minus, const double* weight, double* out);
// out = weight p (one - q)
void second_derivative(const double* weight, const double* p, const double* q, double one,
                       double* out);
// Numbers become their distance from the center; a missing value stands there.
void subtract_center(double center, int count, double* out);

// out += sum_j factors[j] * column j; columns stand one after the other.
void add_multiples(const double* columns, const double* factors, int64_t count, double* out);
// The same for several outputs, of which each has its sums in a block of `out`, and its factors
// `stride` behind those of the one before.
void add_multiples(const double* columns, const double* factors, int64_t stride, int64_t count,
                   int outputs, double* out);
// out[j] += column j . vector
void add_dots(const double* columns, const double* vector, int64_t count, double* out);
// out[o * stride + j] += column j . vector o; vectors stand one after the other.
void add_dots(const double* columns, const double* vectors, int64_t stride, int64_t count,
              int outputs, double* out);

// Numbers of 0 or less become their exponential.
void exponentials(double* values);
// Log-odds become the probability of the second class, and `loss` that of each row.
void logistic(const double* is_second, const double* weight, double* odds, double* loss);
// Log-odds become the probability of the second class, and `first` that of the first one, which is
// more exact than 1 less the other.
void both_probabilities(double* odds, double* first);

}  // namespace lessnaive::block
