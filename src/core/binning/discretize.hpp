// Supervised discretization of numeric columns.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bits.hpp"
#include "binning/log_factorial.hpp"
#include "binning/partition.hpp"
#include "binning/sorted_column.hpp"
#include "table/column.hpp"

namespace lessnaive {

// Values x with edges[b - 1] < x <= edges[b] are in bin b.
struct Bins {
    std::vector<double> edges;
    std::vector<double> counts;  // (bins, classes)
    int64_t missing_bin = -1;    // where missing values are, if they are in a bin
    double cost = 0, null_cost = 0, prior_cost = 0;
};

// MODL: the partition of smallest cost
//     log n + log C(n + I - 1, I - 1) + sum over the intervals (see partition.hpp).
// With `use_missing`, missing values stand below or above all others, whichever costs less; the
// edge between a bin of missing values alone and the others is -inf or inf.
Bins discretize_modl(SortedColumn column, int classes, const LogFactorial& log_factorial,
                     bool use_missing, int64_t exact_parts);

// Fayyad and Irani (1993): recursive cuts of least class entropy, each accepted only if it pays for
// its own description.
Bins discretize_mdlp(const SortedColumn& column, int classes, const Bits& bits);

// codes[row] = 0 where missing, else 1 + the number of edges below the value.
void digitize(const Column& column, const double* edges, int64_t edge_count, int64_t rows,
              uint32_t* codes);

}  // namespace lessnaive
