// Scoring: score_c(x) = b_c + sum_j s_j(x_j, c), and what follows from it.
#pragma once

#include <cstdint>
#include <vector>

#include "table/column.hpp"
#include "table/segments.hpp"

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

// One side of a pair: the code of a column, or its place in a list of codes; or the segment of a
// curve that a number is in, as a place in such a list.
struct PairSide {
    CodedColumn coded;
    const uint32_t* places;  // or null
    int64_t codes;           // what is looked up is less
    int64_t curve = -1;      // place among the curves; places then has an item for each segment and
                             // one for missing
};

// s(x, c) = table[code of the first column][code of the second one][c].
struct PairLookup {
    PairSide first, second;
    const double* table;  // (first.codes, second.codes, classes)
};

struct Terms {
    std::vector<Lookup> lookups;
    std::vector<Quadratic> quadratics;
    std::vector<Piecewise> curves;
    std::vector<PairLookup> pairs;
};

enum class Output { joint, log_probability, probability };

// out: (rows, classes). Returns the smallest place among the quadratics and then the curves of a
// column that holds an infinite value, or -1.
int64_t score(const Terms& terms, const double* intercept, int64_t rows, int classes, Output output,
              double* out);

}  // namespace lessnaive
