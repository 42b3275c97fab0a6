// How much each pair of coded columns could still explain.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace lessnaive {

// One-byte codes, each less than its column's size.
struct PairCodes {
    const uint8_t* codes;
    int size;
};

// out[t] = sum over the cells of the two columns of pair t, and over outputs, of
// (G^2 - H) / (H + 1), where G and H are the sums of slopes and bends (rows, outputs) over the rows
// of a cell: about what a table of the pair with a ridge of 1 would lower twice the loss by, less
// what it would without a reason.
void pair_gains(const std::vector<PairCodes>& columns,
                const std::vector<std::pair<int, int>>& pairs, const double* slopes,
                const double* bends, int64_t rows, int outputs, double* out);

}  // namespace lessnaive
