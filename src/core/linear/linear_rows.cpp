#include "linear/linear_rows.hpp"

#include <algorithm>
#include <cmath>

#include "base/dots.hpp"
#include "base/interrupt.hpp"
#include "base/parallel.hpp"
#include "table/block.hpp"

namespace lessnaive {
namespace {

constexpr int kBlock = block::kRows;
constexpr int64_t kMostTasks = 32;
constexpr int64_t kMostBytes = int64_t{1} << 27;
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
Tasks tasks_of(int64_t rows, int64_t size) {
    const int64_t bytes = std::max<int64_t>(1, size) * static_cast<int64_t>(sizeof(double));
    const int64_t most = std::clamp<int64_t>(kMostBytes / bytes, 1, kMostTasks);
    const int64_t blocks = (rows + kBlock - 1) / kBlock;
    const int64_t each = std::max<int64_t>(8, (blocks + most - 1) / most);
    return {(blocks + each - 1) / each, each, blocks};
}

}  // namespace

// One thread's work on blocks of rows. What is behind the last row has weight 0.
class LinearPass {
  public:
    explicit LinearPass(const LinearRows& rows)
        : rows_(rows),
          outputs_(rows.outputs()),
          scores_(static_cast<size_t>(rows.outputs()) * kBlock),
          spare_(3 * kBlock) {}
    // Vectors point to other members.
    LinearPass(const LinearPass&) = delete;
    LinearPass& operator=(const LinearPass&) = delete;

    const double* scores(int o) const { return scores_.data() + o * kBlock; }
    double* scores(int o) { return scores_.data() + o * kBlock; }
    const double* weights() const { return rows_.weights_.data() + place_ * kBlock; }

    void score(int64_t place, const double* coefficients) {
        poll();
        place_ = place;
        for (int o = 0; o < outputs_; ++o) {
            const double* b = coefficients + o * rows_.coefficients_;
            double* sum = scores(o);
            std::fill_n(sum, kBlock, b[0]);
            block::add_multiples(number(0), b + 1, rows_.numbers_, sum);
            for (const LinearRows::Codes& coded : rows_.coded_) {
                const uint32_t* code = codes(coded);
                const double* own = b + coded.first;
                for (int k = 0; k < kBlock; ++k) sum[k] += own[code[k]];
            }
        }
    }

    // Scores become probabilities: of the second class, or of each. Returns the loss of the block.
    double probabilities() {
        double *losses = spare_.data(), *sum = losses + kBlock, *highest = sum + kBlock;
        if (outputs_ == 1) {
            block::logistic(is_of(1), weights(), scores(0), losses);
            return block::sum(losses);
        }
        std::copy_n(scores(0), kBlock, highest);
        for (int o = 1; o < outputs_; ++o) block::keep_larger(scores(o), highest);
        const int32_t* label = rows_.labels_.data() + place_ * kBlock;
        for (int k = 0; k < kBlock; ++k) losses[k] = highest[k] - scores(label[k])[k];
        std::fill_n(sum, kBlock, 0.0);
        for (int o = 0; o < outputs_; ++o) {
            block::subtract(highest, scores(o));
            block::exponentials(scores(o));
            block::add(scores(o), sum);
        }
        for (int o = 0; o < outputs_; ++o) block::divide(sum, scores(o));
        for (int k = 0; k < kBlock; ++k) losses[k] += std::log(sum[k]);
        block::multiply(losses, weights(), losses);
        return block::sum(losses);
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
        for (int o = 0; o < outputs_; ++o) {
            const double* r = scores(o);
            double* g = gradient + o * rows_.coefficients_;
            g[0] += block::sum(r);
            block::add_dots(number(0), r, rows_.numbers_, g + 1);
            for (const LinearRows::Codes& coded : rows_.coded_) {
                const uint32_t* code = codes(coded);
                double* own = g + coded.first;
                for (int k = 0; k < kBlock; ++k) own[code[k]] += r[k];
            }
        }
    }

    // Weights of the rows in the second derivative by the scores of outputs o and u.
    const double* second_derivatives(int o, int u) {
        block::second_derivative(weights(), scores(o), scores(u), o == u ? 1.0 : 0.0,
                                 spare_.data());
        return spare_.data();
    }

    // out (coefficients, stride) += X' diag(q) X, at least its upper triangle.
    void add_products(const double* q, double* out, int64_t stride) {
        poll();
        const int64_t numbers = rows_.numbers_;
        if (scaled_.empty()) {
            ones_.assign(kBlock, 1.0);
            scaled_.resize((1 + numbers) * kBlock);
            vectors_.resize(1 + numbers);
            scaled_vectors_.resize(1 + numbers);
        }
        vectors_[0] = ones_.data();
        for (int64_t j = 0; j < numbers; ++j) vectors_[1 + j] = number(j);
        for (int64_t j = 0; j <= numbers; ++j) {
            double* to = scaled_.data() + j * kBlock;
            block::multiply(vectors_[j], q, to);
            scaled_vectors_[j] = to;
        }
        add_dots(vectors_.data(), vectors_.size(), scaled_vectors_.data(), scaled_vectors_.size(),
                 kBlock, true, out, stride);
        for (size_t m = 0; m < rows_.coded_.size(); ++m) {
            const LinearRows::Codes& coded = rows_.coded_[m];
            const uint32_t* code = codes(coded);
            for (int64_t j = 0; j <= numbers; ++j) {
                double* row = out + j * stride + coded.first;
                for (int k = 0; k < kBlock; ++k) row[code[k]] += scaled_vectors_[j][k];
            }
            for (int k = 0; k < kBlock; ++k)
                out[(coded.first + code[k]) * stride + coded.first + code[k]] += q[k];
            for (size_t other = m + 1; other < rows_.coded_.size(); ++other) {
                const LinearRows::Codes& right = rows_.coded_[other];
                const uint32_t* right_code = codes(right);
                for (int k = 0; k < kBlock; ++k)
                    out[(coded.first + code[k]) * stride + right.first + right_code[k]] += q[k];
            }
        }
    }

  private:
    const double* number(int64_t j) const {
        return rows_.cells_.data() + (place_ * rows_.numbers_ + j) * kBlock;
    }
    const uint32_t* codes(const LinearRows::Codes& coded) const {
        return coded.code.data() + place_ * kBlock;
    }
    // 1 for the rows of a class, else 0.
    const double* is_of(int c) {
        const int32_t* label = rows_.labels_.data() + place_ * kBlock;
        double* out = spare_.data() + 2 * kBlock;
        for (int k = 0; k < kBlock; ++k) out[k] = label[k] == c ? 1.0 : 0.0;
        return out;
    }

    const LinearRows& rows_;
    int outputs_;
    int64_t place_ = 0;
    std::vector<double> scores_, spare_, ones_, scaled_;
    std::vector<const double*> vectors_, scaled_vectors_;
};

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

double LinearRows::loss(const double* coefficients, double* gradient) const {
    const int64_t size = outputs() * coefficients_;
    const Tasks tasks = tasks_of(rows_, size);
    std::vector<double> losses(tasks.count, 0.0), parts(gradient ? tasks.count * size : 0, 0.0);
    parallel_for(tasks.count, rows_ * (coefficients_ + 8) / kQuick, [&](int64_t task) {
        LinearPass pass(*this);
        tasks.visit(task, [&](int64_t place) {
            pass.score(place, coefficients);
            losses[task] += pass.probabilities();
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

void LinearRows::curvature(const double* coefficients, int64_t enough, double* out) const {
    const int64_t p = coefficients_, size = outputs() * p;
    const Tasks tasks = tasks_of(rows_, size * size);
    std::vector<double> parts(tasks.count * size * size, 0.0), weight(tasks.count, 0.0);
    const int64_t stride = std::max<int64_t>(1, rows_ / std::max<int64_t>(enough, 1));
    parallel_for(tasks.count, rows_ * size / stride, [&](int64_t task) {
        LinearPass pass(*this);
        double* part = parts.data() + task * size * size;
        tasks.visit(task, [&](int64_t place) {
            if (place % stride != 0) return;
            pass.score(place, coefficients);
            pass.probabilities();
            weight[task] += block::sum(pass.weights());
            for (int o = 0; o < outputs(); ++o)
                for (int u = o; u < outputs(); ++u)
                    pass.add_products(pass.second_derivatives(o, u), part + o * p * size + u * p,
                                      size);
        });
    });
    double looked_at = 0;
    for (double each : weight) looked_at += each;
    if (stride > 1 && looked_at == 0) return curvature(coefficients, rows_, out);
    const double factor = stride > 1 ? total_weight_ / looked_at : 1.0;
    std::fill_n(out, size * size, 0.0);
    for (int64_t task = 0; task < tasks.count; ++task)
        for (int64_t i = 0; i < size * size; ++i) out[i] += factor * parts[task * size * size + i];
    // Each block of outputs is symmetric, and so is the whole.
    for (int o = 0; o < outputs(); ++o)
        for (int u = o; u < outputs(); ++u)
            for (int64_t i = 0; i < p; ++i)
                for (int64_t k = i; k < p; ++k) {
                    const double value = out[(o * p + i) * size + u * p + k];
                    out[(o * p + k) * size + u * p + i] = value;
                    out[(u * p + i) * size + o * p + k] = value;
                    out[(u * p + k) * size + o * p + i] = value;
                }
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
