// Scoring: score_c(x) = b_c + sum_j s_j(x_j, c), and what follows from it.
#pragma once

#include <cstdint>
#include <vector>

#include "table/column.hpp"

namespace lessnaive {

// s(x, c) = table[code(x)][c]; the table has shape (coded.table_rows, classes).
struct Lookup {
    CodedColumn coded;
    const double* table;
};

// s(x, c) = offset[c] - weight[c] ((x - center[c]) / scale[c])^2 / 2, or missing[c] where x has no
// value. `parameters` has shape (5, classes): offset, center, scale, missing, weight. A line is
// slope[c] (x - center[c]), or 0 where x has no value, with (2, classes): center, slope.
struct Quadratic {
    Column column;
    const double* parameters;
    bool is_line = false;
};

enum class Output { joint, log_probability, probability };

// out: (rows, classes). Returns the smallest index of a quadratic whose column holds an infinite
// value, or -1.
int64_t score(const std::vector<Lookup>& lookups, const std::vector<Quadratic>& quadratics,
              const double* intercept, int64_t rows, int classes, Output output, double* out);

}  // namespace lessnaive
