// Per-class weight, mean and sum of squared deviations of numeric columns, stable and mergeable.
#pragma once

#include <cstdint>
#include <vector>

#include "table/column.hpp"

namespace lessnaive {

// The statistics of one class in one column. Mean and squared deviations are unevaluated sums of
// two doubles, so that merging many small parts, at means of 1e8 and spreads of 1, loses nothing.
struct Moments {
    double weight = 0;
    double mean = 0, mean_low = 0;
    double squares = 0, squares_low = 0;
    double missing = 0;  // weight of the rows without a value
};

static_assert(sizeof(Moments) == 6 * sizeof(double));

// Chan's pairwise update.
void merge(Moments& into, const Moments& from);

// out: (columns, classes). `weights` may be null. Values that are not finite and not missing make
// the squares of their column not finite, which is for the caller to check.
void moments(const std::vector<Column>& columns, const Column& labels, const double* weights,
             int64_t rows, int classes, Moments* out);

}  // namespace lessnaive
