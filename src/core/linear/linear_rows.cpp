#include "linear/linear_rows.hpp"

#include <algorithm>
#include <cmath>

#include "base/parallel.hpp"
#include "linear/linear_pass.hpp"

namespace lessnaive {

using linear::kBlock;
using linear::kQuick;
using linear::Tasks;
using linear::tasks_of;

LinearRows::LinearRows(const std::vector<Column>& numbers, const double* centers,
                       const std::vector<CodedColumn>& coded, const Column& labels,
                       const double* weights, int64_t rows, int classes)
    : classes_(classes),
      rows_(rows),
      numbers_(static_cast<int64_t>(numbers.size())),
      coded_(coded.size()) {
    coefficients_ = 1 + numbers_;
    for (size_t m = 0; m < coded.size(); ++m) {
        coded_[m].first = coefficients_;
        coded_[m].count = coded[m].table_rows;
        coefficients_ += coded[m].table_rows;
    }
    // Room for whole blocks, so that the inner loops need not look where the rows end.
    const Tasks tasks = tasks_of(rows, 1);
    const size_t room = static_cast<size_t>(tasks.blocks) * kBlock;
    cells_.resize(room * static_cast<size_t>(numbers_));
    for (Codes& each : coded_) each.code.resize(room);
    labels_.resize(room);
    weights_.resize(room);
    const CodedColumn label_codes{labels, 0, classes};
    // Block by block: a table that stands row by row is read once so.
    parallel_for(tasks.count, rows * coefficients_, [&](int64_t task) {
        tasks.visit(task, [&](int64_t place) {
            const int64_t first = place * kBlock;
            const int count = static_cast<int>(std::min<int64_t>(kBlock, rows - first));
            for (int64_t j = 0; j < numbers_; ++j) {
                double* to = cells_.data() + (place * numbers_ + j) * kBlock;
                load_numbers(numbers[j], first, count, to);
                block::subtract_center(centers[j], count, to);
            }
            for (size_t m = 0; m < coded.size(); ++m)
                load_codes(coded[m], first, count, coded_[m].code.data() + first);
            uint32_t found[kBlock];
            load_codes(label_codes, first, count, found);
            std::copy_n(found, count, labels_.data() + first);
        });
    });
    if (weights)
        std::copy_n(weights, rows, weights_.data());
    else
        std::fill_n(weights_.data(), rows, 1.0);
    total_weight_ = 0;
    for (double w : weights_) total_weight_ += w;
}

int64_t LinearRows::bytes() const {
    int64_t out = static_cast<int64_t>(cells_.size() * sizeof(double));
    out += static_cast<int64_t>(labels_.size() * (sizeof(int32_t) + sizeof(double)));
    for (const Codes& coded : coded_)
        out += static_cast<int64_t>(coded.code.size() * sizeof(uint32_t));
    return out;
}

std::pair<double, double> LinearRows::weight_range() const {
    double smallest = HUGE_VAL, largest = 0;
    for (double w : weights_) {
        if (w > 0) smallest = std::min(smallest, w);
        largest = std::max(largest, w);
    }
    return {smallest, largest};
}

std::vector<double> LinearRows::shares() const {
    std::vector<double> out(classes_, 0.0);
    for (size_t i = 0; i < labels_.size(); ++i) out[labels_[i]] += weights_[i];
    for (double& each : out) each /= total_weight_;
    return out;
}

double LinearRows::loss(const double* coefficients, double* gradient, double* by_block) const {
    const int64_t size = outputs() * coefficients_;
    const Tasks tasks = tasks_of(rows_, size);
    std::vector<double> losses(tasks.count, 0.0), parts(gradient ? tasks.count * size : 0, 0.0);
    parallel_for(tasks.count, rows_ * (coefficients_ + 8) / kQuick, [&](int64_t task) {
        LinearPass pass(*this);
        tasks.visit(task, [&](int64_t place) {
            pass.score(place, coefficients);
            losses[task] += pass.probabilities();
            const int64_t count = outputs() * kBlock;
            if (by_block) std::copy_n(pass.scores(0), count, by_block + place * count);
            if (!gradient) return;
            pass.residuals();
            pass.add_gradient(parts.data() + task * size);
        });
    });
    double out = 0;
    for (double part : losses) out += part;
    if (gradient) {
        std::fill_n(gradient, size, 0.0);
        for (int64_t task = 0; task < tasks.count; ++task)
            for (int64_t i = 0; i < size; ++i) gradient[i] += parts[task * size + i];
    }
    return out;
}

void LinearRows::probabilities(const double* coefficients, double* out) const {
    const Tasks tasks = tasks_of(rows_, 1);
    parallel_for(tasks.count, rows_ * (coefficients_ + 8) / kQuick, [&](int64_t task) {
        LinearPass pass(*this);
        double other[kBlock];
        tasks.visit(task, [&](int64_t place) {
            pass.score(place, coefficients);
            pass.all_probabilities(other);
            const int64_t first = place * kBlock, count = std::min<int64_t>(kBlock, rows_ - first);
            for (int64_t k = 0; k < count; ++k) {
                double* row = out + (first + k) * classes_;
                if (outputs() == 1) {
                    row[0] = other[k];
                    row[1] = pass.scores(0)[k];
                } else {
                    for (int o = 0; o < outputs(); ++o) row[o] = pass.scores(o)[k];
                }
            }
        });
    });
}

}  // namespace lessnaive
