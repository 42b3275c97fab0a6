// The best partition of a sequence of parts into intervals under a MODL criterion:
//
//     cost = prior(I) + sum over the intervals of
//            log C(n + J - 1, J - 1) + log(n! / prod_j n_j!)
//          = prior(I) + sum of  log (n + J - 1)! - log (J - 1)! - sum_j log n_j!
//
// with n_j the weight of class j in an interval, n their sum and I the number of intervals
// (Boulle, Machine Learning 65, 2006). Everything but the prior is a sum over intervals.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "binning/log_factorial.hpp"

namespace lessnaive {

struct ClassCount {
    uint32_t label;
    double count;
};

// Parts in order, each with the classes that occur in it: part p has entries
// start[p] .. start[p + 1], sorted by class.
struct Parts {
    std::vector<uint32_t> start{0};
    std::vector<ClassCount> entries;

    size_t size() const { return start.size() - 1; }
    void close() { start.push_back(static_cast<uint32_t>(entries.size())); }
};

// Sums of logarithms are as exact as the largest of them: what is gained beyond that is rounding.
inline double rounding_in(double largest) { return 1e-10 + 1e-12 * largest; }

struct Criterion {
    const LogFactorial& log_factorial;
    int classes;
    std::function<double(int64_t)> prior;  // by the number of intervals
    double tolerance;                      // costs nearer than this are equal: fewer intervals win

    double interval(double n, double sum_of_log_factorials) const {
        return log_factorial(n + classes - 1) - log_factorial(classes - 1) - sum_of_log_factorials;
    }
};

// Up to this many parts the optimum is found exactly, by dynamic programming.
constexpr int64_t kExactParts = 512;

struct Partition {
    std::vector<int64_t> ends;  // of the intervals, as a number of parts; the last is all of them
    double cost;
};

struct Merged {
    Parts parts;
    std::vector<int64_t> ends;  // of the merged parts, as a number of the parts before
};

// Merges neighbours, cheapest first, until `target` parts are left or a merge costs more than
// `most`.
Merged merge_down(const Parts& parts, const Criterion& criterion, int64_t target, double most);

// Exact if there are no more than `exact_parts` parts; else greedy merging down to a few, with
// these partitioned exactly.
Partition best_partition(const Parts& parts, const Criterion& criterion,
                         int64_t exact_parts = kExactParts);

}  // namespace lessnaive
