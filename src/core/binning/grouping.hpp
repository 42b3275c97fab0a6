// Supervised grouping of the values of categorical columns by the MODL criterion:
//
//     log V + log B(V, K) + sum over the groups (see partition.hpp)
//
// with V the number of values and B(V, K) the number of ways to put them into at most K groups.
#pragma once

#include <cstdint>
#include <vector>

namespace lessnaive {

struct Groups {
    std::vector<int32_t> group_of;  // for each value
    std::vector<double> counts;     // (groups, classes)
    double cost = 0, null_cost = 0, prior_cost = 0;
};

// counts: (values, classes), each value with some weight.
Groups group_values(const double* counts, int64_t values, int classes, bool whole_numbers);

// log B(V, K) for K = 1 .. most, at place K - 1.
std::vector<double> log_partitions(int64_t values, int64_t most);

}  // namespace lessnaive
