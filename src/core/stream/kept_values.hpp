// The values of a categorical column that are worth keeping, when there are too many of them.
//
// Space-saving (Metwally, Agrawal and El Abbadi 2005), with counts by class: all slots being taken,
// a new value takes the slot of the value that may weigh least. What had been counted there goes to
// the rest, by class, so that counts are of rows of their own value only. `bound` says how much the
// value may weigh: what was counted, and what may have been counted for it before it had the slot.
//
// Let N be the weight of all rows with a value, and k the number of slots. The bounds sum up to N
// (a row adds its weight to one of them, and taking a slot over leaves its bound), so the smallest
// is N / k at most. A value without a slot weighs no more than the smallest bound: at its last
// eviction it weighed no more than the smallest bound of that time, and this one never falls. Hence
//
//     counted weight <= weight <= bound,  bound - counted weight <= N / k,
//     and every value of more weight than N / k has a slot.
#pragma once

#include <cstdint>
#include <vector>

#include "table/column.hpp"

namespace lessnaive {

struct KeptValues {
    int64_t slots, used, classes;
    double* counts;   // (slots, classes)
    double* bound;    // (slots)
    double* rest;     // (classes)
    double* missing;  // (classes)
};

// Adds rows one by one: any split of them over calls gives the same. Code 0 is missing, code i + 1
// stands for value i, which has slot slot_of[i], or -1. Returns which of these values has taken
// each slot, -1 where the slot has the value that it had before.
std::vector<int64_t> keep_values(KeptValues& kept, const CodedColumn& codes, const Column& labels,
                                 const double* weights, int64_t rows, std::vector<int64_t> slot_of);

}  // namespace lessnaive
