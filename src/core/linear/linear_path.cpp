#include "linear/linear_path.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/interrupt.hpp"
#include "base/simd.hpp"
#include "linear/linear_curvature.hpp"

namespace lessnaive {
namespace {

// Products of probabilities that curvature can do without, as a share of those of a rare class:
// with a hundred times as much paths take more steps than that saves.
constexpr double kNegligible = 1e-5;

LESSNAIVE_WIDE void add_multiple(const double* x, double factor, int64_t size, double* out) {
    for (int64_t i = 0; i < size; ++i) out[i] += factor * x[i];
}

// The loss of rows by coordinates of their coefficients, around a target.
class LinearPathLoss : public PathLoss {
  public:
    LinearPathLoss(const LinearRows& rows, SparseMatrix coordinates, std::vector<double> target)
        : rows_(rows),
          coordinates_(std::move(coordinates)),
          adjoint_(coordinates_.transposed()),
          target_(std::move(target)),
          keeps_(rows.by_block_size() * static_cast<int64_t>(sizeof(double)) <= rows.bytes()) {}

    int64_t outputs() const override { return rows_.outputs(); }
    double without_evidence() const override {
        return rows_.total_weight() * std::log(static_cast<double>(rows_.classes()));
    }

    double value_and_gradient(const std::vector<double>& weights,
                              std::vector<double>& gradient) const override {
        const std::vector<double> at = coefficients(weights);
        std::vector<double> by_coefficient(at.size());
        kept_for_.clear();
        if (keeps_) by_block_.resize(rows_.by_block_size());
        const double loss =
            rows_.loss(at.data(), by_coefficient.data(), keeps_ ? by_block_.data() : nullptr);
        if (keeps_) kept_for_ = weights;
        for (int o = 0; o < rows_.outputs(); ++o)
            coordinates_.multiply_transposed(by_coefficient.data() + o * coordinates_.rows,
                                             gradient.data() + o * coordinates_.columns);
        return loss;
    }

    void add_curvature(const std::vector<double>& weights, const std::vector<int64_t>& working,
                       double share, double* hessian) const override {
        const double* by_block = weights == kept_for_ ? by_block_.data() : nullptr;
        add_curvature_at(coefficients(weights), working, share, hessian, by_block);
    }

    void add_largest_curvature(const std::vector<int64_t>& working, double share,
                               double* hessian) const override {
        const std::vector<double> unsure(rows_.outputs() * coordinates_.rows, 0.0);
        add_curvature_at(unsure, working, share, hessian, nullptr);
    }

    // What all outputs share changes no probability.
    void hold_what_is_open(const std::vector<int64_t>& working, const std::vector<double>& factor,
                           double* hessian) const override {
        if (rows_.outputs() == 1) return;
        const int64_t columns = coordinates_.columns, count = static_cast<int64_t>(working.size());
        // The same column of all outputs is at work if nothing holds it.
        std::vector<std::vector<int64_t>> free(columns);
        for (int64_t i = 0; i < count; ++i)
            if (factor[working[i]] == 0) free[working[i] % columns].push_back(i);
        for (const std::vector<int64_t>& places : free) {
            if (places.empty()) continue;
            const double curvature = hessian[places[0] * count + places[0]];
            for (int64_t i : places)
                for (int64_t k : places) hessian[i * count + k] += curvature;
        }
    }

  private:
    std::vector<double> coefficients(const std::vector<double>& weights) const {
        std::vector<double> at(weights.size());
        for (size_t k = 0; k < at.size(); ++k) at[k] = target_[k] + weights[k];
        std::vector<double> out(rows_.outputs() * coordinates_.rows);
        for (int o = 0; o < rows_.outputs(); ++o)
            coordinates_.multiply(at.data() + o * coordinates_.columns,
                                  out.data() + o * coordinates_.rows);
        return out;
    }

    // The coefficients of the rows that weights have a part in, weight by weight.
    struct Parts {
        std::vector<size_t> starts;
        std::vector<int64_t> places;
        std::vector<double> values;
    };

    Parts parts_of(const std::vector<int64_t>& weights) const {
        Parts out{{0}, {}, {}};
        for (int64_t weight : weights) {
            const int64_t o = weight / coordinates_.columns, c = weight % coordinates_.columns;
            for (int64_t e = adjoint_.starts[c]; e < adjoint_.starts[c + 1]; ++e) {
                out.places.push_back(o * coordinates_.rows + adjoint_.places[e]);
                out.values.push_back(adjoint_.values[e]);
            }
            out.starts.push_back(out.places.size());
        }
        return out;
    }

    void add_curvature_at(const std::vector<double>& coefficients,
                          const std::vector<int64_t>& working, double share, double* hessian,
                          const double* by_block) const {
        Parts parts = parts_of(working);
        std::vector<int64_t> slots(coefficients.size(), -1), chosen;
        for (int64_t place : parts.places) slots[place] = 0;
        for (size_t place = 0; place < slots.size(); ++place)
            if (slots[place] == 0) {
                slots[place] = static_cast<int64_t>(chosen.size());
                chosen.push_back(static_cast<int64_t>(place));
            }
        for (int64_t& place : parts.places) place = slots[place];
        const int64_t n = static_cast<int64_t>(chosen.size());
        const size_t count = working.size();
        std::vector<double> by_coefficient(n * n), row(n);
        curvature(rows_, coefficients.data(), rows_.rows(), chosen, by_coefficient.data(),
                  kNegligible, by_block);
        for (size_t i = 0; i < count; ++i) {
            poll();
            std::fill(row.begin(), row.end(), 0.0);
            for (size_t e = parts.starts[i]; e < parts.starts[i + 1]; ++e)
                add_multiple(by_coefficient.data() + parts.places[e] * n, share * parts.values[e],
                             n, row.data());
            for (size_t k = 0; k < count; ++k)
                for (size_t e = parts.starts[k]; e < parts.starts[k + 1]; ++e)
                    hessian[i * count + k] += parts.values[e] * row[parts.places[e]];
        }
    }

    const LinearRows& rows_;
    SparseMatrix coordinates_, adjoint_;
    std::vector<double> target_;
    // What the last look left for the curvature, where that takes no more room than the table.
    bool keeps_;
    mutable std::vector<double> kept_for_, by_block_;
};

}  // namespace

void SparseMatrix::multiply(const double* x, double* out) const {
    for (int64_t r = 0; r < rows; ++r) {
        out[r] = 0;
        for (int64_t e = starts[r]; e < starts[r + 1]; ++e) out[r] += values[e] * x[places[e]];
    }
}

void SparseMatrix::multiply_transposed(const double* x, double* out) const {
    std::fill_n(out, columns, 0.0);
    for (int64_t r = 0; r < rows; ++r)
        for (int64_t e = starts[r]; e < starts[r + 1]; ++e) out[places[e]] += values[e] * x[r];
}

SparseMatrix SparseMatrix::transposed() const {
    SparseMatrix out{columns, rows, std::vector<int64_t>(columns + 1, 0), places, values};
    for (int64_t place : places) ++out.starts[place + 1];
    for (int64_t c = 0; c < columns; ++c) out.starts[c + 1] += out.starts[c];
    std::vector<int64_t> next = out.starts;
    for (int64_t r = 0; r < rows; ++r)
        for (int64_t e = starts[r]; e < starts[r + 1]; ++e) {
            const int64_t to = next[places[e]]++;
            out.places[to] = r;
            out.values[to] = values[e];
        }
    return out;
}

LinearPath::LinearPath(const LinearRows& rows, SparseMatrix coordinates, std::vector<double> target,
                       std::vector<double> factor, std::vector<double> start)
    : NewtonPath(
          std::make_unique<const LinearPathLoss>(rows, std::move(coordinates), std::move(target)),
          std::move(factor), std::move(start)) {}

}  // namespace lessnaive
