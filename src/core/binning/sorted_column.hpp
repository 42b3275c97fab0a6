// A numeric column sorted by value, with the class (and weight) of each row beside it.
#pragma once

#include <cstdint>
#include <vector>

#include "table/column.hpp"

namespace lessnaive {

struct SortedColumn {
    std::vector<double> values;
    std::vector<uint32_t> labels;
    std::vector<double> weights;  // empty: all 1
    std::vector<double> missing;  // weight of the rows without a value, by class

    int64_t size() const { return static_cast<int64_t>(values.size()); }
    double weight(int64_t row) const { return weights.empty() ? 1.0 : weights[row]; }
};

// Rows of weight 0 are left out. `weights` may be null.
SortedColumn sort_column(const Column& column, const Column& labels, const double* weights,
                         int64_t rows, int classes);

// Sorts values, stable, and what is carried along with them; -0 becomes 0. Values are not NaN.
void sort_values(std::vector<double>& values, std::vector<uint32_t>& carried);

// A number t with low <= t < high, halfway if there is one.
double cut_between(double low, double high);

}  // namespace lessnaive
