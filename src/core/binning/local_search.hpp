// Improving a partition of the rows of a column under a MODL criterion.
#pragma once

#include <cstdint>
#include <vector>

#include "binning/partition.hpp"
#include "binning/sorted_column.hpp"

namespace lessnaive {

// Local search over the rows themselves: split, merge, move a boundary, merge here and split there;
// the best of all moves at a time, until none helps. `ends` of the intervals are numbers of rows.
std::vector<int64_t> improve(const SortedColumn& column, const Criterion& criterion,
                             std::vector<int64_t> ends);

}  // namespace lessnaive
