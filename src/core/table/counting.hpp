// Counting: how much weight each (code, class) cell of each coded column has.
#pragma once

#include <cstdint>
#include <vector>

#include "table/column.hpp"

namespace lessnaive {

// Adds to tables[j], of shape (columns[j].table_rows, classes), row by row in the order of the
// rows: sums of weights come out bit-equal however the rows are split over calls. `weights` may be
// null.
void count(const std::vector<CodedColumn>& columns, const Column& labels, const double* weights,
           int64_t rows, int classes, const std::vector<double*>& tables);

}  // namespace lessnaive
