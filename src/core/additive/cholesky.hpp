// Cholesky factors of dense symmetric matrices, row by row.
#pragma once

#include <cstdint>
#include <vector>

namespace lessnaive {

class Cholesky {
  public:
    // Rows are of a length divisible by 4, so that products of them are wide.
    static int64_t stride_of(int64_t size) { return (size + 3) / 4 * 4; }

    Cholesky() = default;
    // Takes the upper triangle of a matrix (size, stride_of(size)). Pivots that rounding has taken
    // to 0 or below count as one of the first size, which leaves their direction alone.
    Cholesky(int64_t size, const std::vector<double>& matrix);

    // values (size) = inverse of the matrix times values.
    void solve(double* values) const;
    bool empty() const { return size_ == 0; }

  private:
    void factor_block(int64_t first, int64_t end);

    int64_t size_ = 0, stride_ = 0;
    std::vector<double> lower_;    // (size, stride): L, with zeros above
    std::vector<double> inverse_;  // 1 / diagonal of L
    std::vector<double> pivot_;    // diagonal of the matrix
};

}  // namespace lessnaive
