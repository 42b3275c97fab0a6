// Dependence of coded columns: their joint counts, and the symmetrical uncertainty of these.
#pragma once

#include <cstdint>
#include <vector>

#include "table/column.hpp"

namespace lessnaive {

// What becomes of rows in which a value is missing (code 0): they count for all values in
// proportion to how often these occur, or missing is a value of its own.
enum class Missing { spread, category };

// Codes 0 (missing) .. table_rows - 1; the codes are their own rows (shift 0).
// SU(a, b) = 2 (H(a) + H(b) - H(a, b)) / (H(a) + H(b)) of one column with each of the others, and
// 0 where one of the two has no entropy. `weights` may be null.
std::vector<double> symmetrical_uncertainty(const CodedColumn& column,
                                            const std::vector<CodedColumn>& others,
                                            const double* weights, int64_t rows, Missing missing);

}  // namespace lessnaive
