// Minima of a penalized linear model along a path of penalties.
#pragma once

#include <cstdint>
#include <vector>

#include "linear/linear_rows.hpp"
#include "weights/newton_path.hpp"

namespace lessnaive {

// A matrix with few entries, row by row: those of row r are starts[r] ... starts[r + 1].
struct SparseMatrix {
    int64_t rows, columns;
    std::vector<int64_t> starts, places;
    std::vector<double> values;

    // out = A x
    void multiply(const double* x, double* out) const;
    // out = A' x
    void multiply_transposed(const double* x, double* out) const;
    SparseMatrix transposed() const;
};

// minimize over w:  loss(A (target + w)) + sum_k f_k (l1 |w_k| + l2 w_k^2)  for one penalty after
// the other, with the same A for all outputs. The rows must live as long as the path.
class LinearPath : public NewtonPath {
  public:
    LinearPath(const LinearRows& rows, SparseMatrix coordinates, std::vector<double> target,
               std::vector<double> factor, std::vector<double> start);
};

}  // namespace lessnaive
