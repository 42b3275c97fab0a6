// Selection: how well the rows are classified with one column more, or with one column less.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "table/column.hpp"
#include "table/scoring.hpp"

namespace lessnaive {

// What one column adds to the scores, by its codes or by its numbers.
using ColumnEvidence = std::variant<Lookup, Quadratic, Piecewise>;

// The rows to classify: their labels, perhaps weights, and scores of shape (classes, rows).
struct ScoredRows {
    Column labels;
    const double* weights;  // or null
    int64_t rows;
    int classes;
    const double* scores;
};

// Sums over rows: the weight that is classified wrongly, and the negative log-probability of the
// labels. A row belongs to the first of the classes whose scores are equal to the highest within
// rounding, so that the order in which scores were added up does not decide.
struct ScanLoss {
    double error = 0, log_loss = 0;
};

// With `leave_one_out` false, entry i is the loss of the scores plus column judged[i]; with true,
// of the scores plus all columns but judged[i]. Log-losses are left out unless they are asked for.
std::vector<ScanLoss> scan(const std::vector<ColumnEvidence>& columns,
                           const std::vector<int64_t>& judged, const ScoredRows& rows,
                           bool leave_one_out, bool with_log_loss);

// Adds what the columns say to scores of shape (classes, rows).
void add_evidence(const std::vector<ColumnEvidence>& columns, int64_t rows, int classes,
                  double* scores);

}  // namespace lessnaive
