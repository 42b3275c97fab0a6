// Rows of a linear model: numbers, and codes that stand for one coefficient each.
//
// score_o(row) = b_o0 + sum_j b_oj x_j + sum_m b_o[first_m + code_m]. One output is the log-odds of
// the second of two classes; several outputs go through the softmax. Indicators of categories are
// never written out, so that a category costs one byte per row however many values it has.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "table/column.hpp"

namespace lessnaive {

class LinearRows {
  public:
    struct Codes {
        int64_t first;               // place of its first coefficient
        int64_t count;               // number of coefficients
        std::vector<uint32_t> code;  // rows
    };

    // Numbers and codes are copied: numbers less their center, and 0 where they are missing; codes
    // beyond the table count as its last coefficient.
    LinearRows(const std::vector<Column>& numbers, const double* centers,
               const std::vector<CodedColumn>& coded, const Column& labels, const double* weights,
               int64_t rows, int classes);

    int64_t rows() const { return rows_; }
    int classes() const { return classes_; }
    int outputs() const { return classes_ == 2 ? 1 : classes_; }
    // Intercept, numbers, codes.
    int64_t coefficients() const { return coefficients_; }
    // Those that a row has a part in.
    int64_t entries() const { return 1 + numbers_ + static_cast<int64_t>(coded_.size()); }
    double total_weight() const { return total_weight_; }
    // The smallest weight of a row above 0, and the largest; infinity and 0 without any.
    std::pair<double, double> weight_range() const;
    // Of the weight, for each class.
    std::vector<double> shares() const;
    int64_t bytes() const;

    // The negative log-likelihood at coefficients (outputs, coefficients), its gradient unless
    // null, and unless null what `curvature` would have to find again, of this size.
    double loss(const double* coefficients, double* gradient, double* by_block = nullptr) const;
    int64_t by_block_size() const { return static_cast<int64_t>(labels_.size()) * outputs(); }

    // Probabilities of the classes, (rows, classes).
    void probabilities(const double* coefficients, double* out) const;

  private:
    friend class LinearPass;

    int classes_;
    int64_t rows_, coefficients_;
    double total_weight_;
    // All in whole blocks of rows; what is behind the last row has weight 0.
    int64_t numbers_;
    std::vector<double> cells_;  // block by block, in each column by column
    std::vector<Codes> coded_;
    std::vector<int32_t> labels_;
    std::vector<double> weights_;
};

}  // namespace lessnaive
