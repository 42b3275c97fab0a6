// What every thread does with blocks of rows of a linear model.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/interrupt.hpp"
#include "linear/linear_rows.hpp"
#include "table/block.hpp"

namespace lessnaive {

namespace linear {

constexpr int kBlock = block::kRows;
constexpr int64_t kMostTasks = 32;
// Bytes of all tasks together: so many for each row, within bounds. Of vectors less than of
// matrices, as it would take longer to add up many long ones than to look at the rows.
struct Room {
    int64_t per_row, fewest, most;
};
constexpr Room kForMatrices{64, int64_t{1} << 25, int64_t{1} << 27};
constexpr Room kForVectors{16, int64_t{1} << 22, int64_t{1} << 27};
// So many cells take as long as one of those that threads are started for.
constexpr int64_t kQuick = 4;

struct Tasks {
    int64_t count, blocks_each, blocks;

    template <class Visitor>
    void visit(int64_t task, Visitor&& visit) const {
        const int64_t end = std::min(blocks, (task + 1) * blocks_each);
        for (int64_t place = task * blocks_each; place < end; ++place) visit(place);
    }
};

// `size`: numbers that each task keeps.
inline Tasks tasks_of(int64_t rows, int64_t size, const Room& room = kForVectors) {
    const int64_t bytes = std::max<int64_t>(1, size) * static_cast<int64_t>(sizeof(double));
    const int64_t all = std::clamp(room.per_row * rows, room.fewest, room.most);
    const int64_t most = std::clamp<int64_t>(all / bytes, 1, kMostTasks);
    const int64_t blocks = (rows + kBlock - 1) / kBlock;
    const int64_t each = std::max<int64_t>(8, (blocks + most - 1) / most);
    return {(blocks + each - 1) / each, each, blocks};
}

}  // namespace linear

// One thread's work on blocks of rows. What is behind the last row has weight 0.
class LinearPass {
  public:
    explicit LinearPass(const LinearRows& rows)
        : rows_(rows),
          outputs_(rows.outputs()),
          scores_(static_cast<size_t>(rows.outputs()) * linear::kBlock),
          spare_(3 * linear::kBlock) {}
    const double* scores(int o) const { return scores_.data() + o * linear::kBlock; }
    double* scores(int o) { return scores_.data() + o * linear::kBlock; }
    const double* weights() const { return rows_.weights_.data() + place_ * linear::kBlock; }

    void go_to(int64_t place) {
        poll();
        place_ = place;
    }

    void score(int64_t place, const double* coefficients) {
        go_to(place);
        const int64_t p = rows_.coefficients_;
        for (int o = 0; o < outputs_; ++o)
            std::fill_n(scores(o), linear::kBlock, coefficients[o * p]);
        if (outputs_ == 1)
            block::add_multiples(number(0), coefficients + 1, rows_.numbers_, scores(0));
        else
            block::add_multiples(number(0), coefficients + 1, p, rows_.numbers_, outputs_,
                                 scores(0));
        for (int o = 0; o < outputs_; ++o) {
            const double* b = coefficients + o * p;
            double* sum = scores(o);
            for (const LinearRows::Codes& coded : rows_.coded_) {
                const uint32_t* code = codes(coded);
                const double* own = b + coded.first;
                for (int k = 0; k < linear::kBlock; ++k) sum[k] += own[code[k]];
            }
        }
    }

    // Scores become probabilities: of the second class, or of each. Returns the loss of the block.
    double probabilities() {
        double *losses = spare_.data(), *sum = losses + linear::kBlock,
               *highest = sum + linear::kBlock;
        if (outputs_ == 1) {
            block::logistic(is_of(1), weights(), scores(0), losses);
            return block::sum(losses);
        }
        std::copy_n(scores(0), linear::kBlock, highest);
        for (int o = 1; o < outputs_; ++o) block::keep_larger(scores(o), highest);
        const int32_t* label = rows_.labels_.data() + place_ * linear::kBlock;
        for (int k = 0; k < linear::kBlock; ++k) losses[k] = highest[k] - scores(label[k])[k];
        std::fill_n(sum, linear::kBlock, 0.0);
        for (int o = 0; o < outputs_; ++o) {
            block::subtract(highest, scores(o));
            block::exponentials(scores(o));
            block::add(scores(o), sum);
        }
        for (int o = 0; o < outputs_; ++o) block::divide(sum, scores(o));
        for (int k = 0; k < linear::kBlock; ++k) losses[k] += std::log(sum[k]);
        block::multiply(losses, weights(), losses);
        return block::sum(losses);
    }

    // Scores become probabilities of which the second derivatives are no smaller than those of a
    // parabola that is above the loss wherever the scores go, with two classes, and about so with
    // more: a row that is sure of its class and changes its mind has a curvature on the way there.
    void cautious_probabilities() {
        double *sum = spare_.data(), *highest = sum + linear::kBlock;
        if (outputs_ == 1) {
            for (int k = 0; k < linear::kBlock; ++k) {
                const double odds = odds_of_bound(std::fabs(scores(0)[k]));
                scores(0)[k] = odds / (1 + odds);
            }
            return;
        }
        std::copy_n(scores(0), linear::kBlock, highest);
        for (int o = 1; o < outputs_; ++o) block::keep_larger(scores(o), highest);
        std::fill_n(sum, linear::kBlock, 0.0);
        for (int o = 0; o < outputs_; ++o) {
            for (int k = 0; k < linear::kBlock; ++k)
                scores(o)[k] = odds_of_bound(highest[k] - scores(o)[k]);
            block::add(scores(o), sum);
        }
        for (int o = 0; o < outputs_; ++o) block::divide(sum, scores(o));
    }

    // Scores become the probabilities of all classes; of two classes the first is in `first`.
    void all_probabilities(double* first) {
        if (outputs_ == 1)
            block::both_probabilities(scores(0), first);
        else
            probabilities();
    }

    // Probabilities become the derivative of the loss by the scores.
    void residuals() {
        for (int o = 0; o < outputs_; ++o)
            block::subtract_weighted(is_of(outputs_ == 1 ? 1 : o), weights(), scores(o));
    }

    void add_gradient(double* gradient) const {
        const int64_t p = rows_.coefficients_;
        if (outputs_ == 1)
            block::add_dots(number(0), scores(0), rows_.numbers_, gradient + 1);
        else
            block::add_dots(number(0), scores(0), p, rows_.numbers_, outputs_, gradient + 1);
        for (int o = 0; o < outputs_; ++o) {
            const double* r = scores(o);
            double* g = gradient + o * p;
            g[0] += block::sum(r);
            for (const LinearRows::Codes& coded : rows_.coded_) {
                const uint32_t* code = codes(coded);
                double* own = g + coded.first;
                for (int k = 0; k < linear::kBlock; ++k) own[code[k]] += r[k];
            }
        }
    }

    // Weights of the rows in the second derivative by the scores of outputs o and u, if those of
    // the rows are these.
    const double* second_derivatives(int o, int u, const double* weights) {
        block::second_derivative(weights, scores(o), scores(u), o == u ? 1.0 : 0.0, spare_.data());
        return spare_.data();
    }

    const double* number(int64_t j) const {
        return rows_.cells_.data() + (place_ * rows_.numbers_ + j) * linear::kBlock;
    }
    const uint32_t* codes(const LinearRows::Codes& coded) const {
        return coded.code.data() + place_ * linear::kBlock;
    }
    int64_t numbers() const { return rows_.numbers_; }
    // Coefficients in a column's codes, and where the first of them is.
    const std::vector<LinearRows::Codes>& coded() const { return rows_.coded_; }

  private:
    // Odds r with r / (1 + r)^2 = tanh(x / 2) / 2x: the curvature of the lowest parabola above
    // log(1 + exp(x)) that touches it at x and at -x.
    static double odds_of_bound(double x) {
        const double bend = x < 1e-4 ? 0.25 : std::tanh(0.5 * x) / (2 * x);
        const double root = std::sqrt(std::max(0.0, 1 - 4 * bend));
        return (1 - root) / (1 + root);
    }

    // 1 for the rows of a class, else 0.
    const double* is_of(int c) {
        const int32_t* label = rows_.labels_.data() + place_ * linear::kBlock;
        double* out = spare_.data() + 2 * linear::kBlock;
        for (int k = 0; k < linear::kBlock; ++k) out[k] = label[k] == c ? 1.0 : 0.0;
        return out;
    }

    const LinearRows& rows_;
    int outputs_;
    int64_t place_ = 0;
    std::vector<double> scores_, spare_;
};

}  // namespace lessnaive
