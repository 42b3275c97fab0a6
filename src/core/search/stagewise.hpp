// The scan of stagewise naive Bayes: what each of the next steps of each column would give.
#pragma once

#include <cstdint>
#include <vector>

#include "table/column.hpp"

namespace lessnaive {

// Steps are looked at this many at a time.
constexpr int kStepLanes = 4;

// Log-likelihoods of a column at all levels: table[code][class][level]. A step of t levels from
// `level` replaces the entries at `level` by those at `level + t`.
struct LevelTable {
    CodedColumn coded;
    const double* table;
    int64_t width;  // number of levels in the table
    int64_t level;
};

// The same for parabolas: parameters[5][class][level], the five as in scoring.hpp.
struct LevelParabola {
    Column column;
    const double* parameters;
    int64_t width;
    int64_t level;
};

enum class StepLoss { error, log_loss };

struct ScanRows {
    Column labels;
    const double* weights;  // or null
    const double* scores;   // (rows, classes): of the model as it is
    int64_t rows;
    int classes;
};

// out[j][t - 1] = sum over rows of weight x loss after a step of t = 1 .. steps levels in column j:
// first the tables, then the parabolas. `steps` is a multiple of kStepLanes, and level + steps is
// less than the width of each column.
//
// The error of a row is 1 unless its class beats the earlier classes and is not beaten by the later
// ones, where scores within `tolerance` are equal.
void scan_steps(const std::vector<LevelTable>& tables, const std::vector<LevelParabola>& parabolas,
                const ScanRows& rows, int64_t steps, StepLoss loss, double tolerance, double* out);

}  // namespace lessnaive
