#include "linear_rows.hpp"

#include <algorithm>
#include <cmath>

#include "dots.hpp"
#include "exponential.hpp"
#include "parallel.hpp"
#include "simd.hpp"

namespace lessnaive {
namespace {

constexpr int kBlock = LinearRows::kBlock;
constexpr int64_t kMostTasks = 32;
constexpr int64_t kMostBytes = int64_t{1} << 27;
// So many cells take as long as one of those that threads are started for.
constexpr int64_t kQuick = 4;
// Columns that are handled together: reading and writing sums costs more than adding to them.
constexpr int64_t kTogether = 4;
constexpr int64_t kDotsTogether = 8;

constexpr double kOne = 1.0;

// out += sum_t factors[t] * column t; columns are one after the other.
template <int kColumns>
LESSNAIVE_WIDE void add_multiples(const double* x, const double* factors, double* out) {
    for (int k = 0; k < kBlock; ++k) {
        double sum = out[k];
        for (int t = 0; t < kColumns; ++t) sum += factors[t] * x[t * kBlock + k];
        out[k] = sum;
    }
}

// In four sums whatever the machine, as in dots.hpp.
LESSNAIVE_WIDE double sum_of(const double* values) {
    Four sum = {};
    for (int k = 0; k < kBlock; k += 4) sum += *reinterpret_cast<const Four*>(values + k);
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

// exp(values), where below the least exponent that of it. (Two loops: one would not become wide.)
LESSNAIVE_WIDE void exponentials(double* values) {
    for (int k = 0; k < kBlock; ++k)
        values[k] = values[k] > kLowestExponent ? values[k] : kLowestExponent;
    for (int k = 0; k < kBlock; ++k) values[k] = exp_of_nonpositive(values[k]);
}

// Log-odds become the probability of the second class, and `loss` that of each row.
LESSNAIVE_WIDE void logistic(double* t, const double* second, const double* weight, double* loss) {
    double small[kBlock];
    for (int k = 0; k < kBlock; ++k) small[k] = -std::fabs(t[k]);
    exponentials(small);
    for (int k = 0; k < kBlock; ++k) {
        // log(1 + exp(t)) - y t
        const double positive = 0.5 * (t[k] + std::fabs(t[k]));
        loss[k] = weight[k] * (positive + log_one_plus(small[k]) - second[k] * t[k]);
        t[k] = (t[k] >= 0 ? 1.0 : small[k]) / (1.0 + small[k]);
    }
}

// Log-odds become the probability of the second class, and `first` that of the first one, which is
// more exact than 1 less the other.
LESSNAIVE_WIDE void both_probabilities(double* t, double* first) {
    double small[kBlock];
    for (int k = 0; k < kBlock; ++k) small[k] = -std::fabs(t[k]);
    exponentials(small);
    for (int k = 0; k < kBlock; ++k) {
        const double larger = 1.0 / (1.0 + small[k]), smaller = small[k] * larger;
        const double odds = t[k];
        t[k] = odds >= 0 ? larger : smaller;
        first[k] = odds >= 0 ? smaller : larger;
    }
}

LESSNAIVE_WIDE void subtract_weighted(double* p, const double* minus, const double* weight) {
    for (int k = 0; k < kBlock; ++k) p[k] = weight[k] * (p[k] - minus[k]);
}

LESSNAIVE_WIDE void keep_larger(const double* values, double* out) {
    for (int k = 0; k < kBlock; ++k) out[k] = values[k] > out[k] ? values[k] : out[k];
}

LESSNAIVE_WIDE void subtract(const double* minus, double* out) {
    for (int k = 0; k < kBlock; ++k) out[k] -= minus[k];
}

// A missing value stands at the center.
LESSNAIVE_WIDE void subtract_center(double* values, double center, int count) {
    for (int k = 0; k < count; ++k) {
        const double away = values[k] - center;
        values[k] = away == away ? away : 0.0;
    }
}

LESSNAIVE_WIDE void divide(const double* by, double* out) {
    for (int k = 0; k < kBlock; ++k) out[k] /= by[k];
}

LESSNAIVE_WIDE void multiply(const double* a, const double* b, double* out) {
    for (int k = 0; k < kBlock; ++k) out[k] = a[k] * b[k];
}

// out = weight p (1 - q), or -weight p q.
LESSNAIVE_WIDE void second_derivative(const double* weight, const double* p, const double* q,
                                      double one, double* out) {
    for (int k = 0; k < kBlock; ++k) out[k] = weight[k] * p[k] * (one - q[k]);
}

struct Tasks {
    int64_t count, blocks_each, blocks;

    template <class Visitor>
    void visit(int64_t task, Visitor&& visit) const {
        const int64_t end = std::min(blocks, (task + 1) * blocks_each);
        for (int64_t block = task * blocks_each; block < end; ++block) visit(block);
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

    const double* scores(int o) const { return scores_.data() + o * kBlock; }
    double* scores(int o) { return scores_.data() + o * kBlock; }
    const double* weights() const { return rows_.weights_.data() + block_ * kBlock; }

    void score(int64_t block, const double* coefficients) {
        block_ = block;
        for (int o = 0; o < outputs_; ++o) {
            const double* b = coefficients + o * rows_.coefficients_;
            double* sum = scores(o);
            std::fill_n(sum, kBlock, b[0]);
            int64_t j = 0;
            for (; j + kTogether <= rows_.numbers_; j += kTogether)
                add_multiples<kTogether>(number(j), b + 1 + j, sum);
            for (; j < rows_.numbers_; ++j) add_multiples<1>(number(j), b + 1 + j, sum);
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
            logistic(scores(0), is_of(1), weights(), losses);
            return sum_of(losses);
        }
        std::copy_n(scores(0), kBlock, highest);
        for (int o = 1; o < outputs_; ++o) keep_larger(scores(o), highest);
        const int32_t* label = rows_.labels_.data() + block_ * kBlock;
        for (int k = 0; k < kBlock; ++k) losses[k] = highest[k] - scores(label[k])[k];
        std::fill_n(sum, kBlock, 0.0);
        for (int o = 0; o < outputs_; ++o) {
            subtract(highest, scores(o));
            exponentials(scores(o));
            add_multiples<1>(scores(o), &kOne, sum);
        }
        for (int o = 0; o < outputs_; ++o) divide(sum, scores(o));
        for (int k = 0; k < kBlock; ++k) losses[k] += std::log(sum[k]);
        multiply(losses, weights(), losses);
        return sum_of(losses);
    }

    // Scores become the probabilities of all classes; of two classes the first is in `first`.
    void all_probabilities(double* first) {
        if (outputs_ == 1)
            both_probabilities(scores(0), first);
        else
            probabilities();
    }

    // Probabilities become the derivative of the loss by the scores.
    void residuals() {
        for (int o = 0; o < outputs_; ++o)
            subtract_weighted(scores(o), is_of(outputs_ == 1 ? 1 : o), weights());
    }

    void add_gradient(double* gradient) const {
        for (int o = 0; o < outputs_; ++o) {
            const double* r = scores(o);
            double* g = gradient + o * rows_.coefficients_;
            g[0] += sum_of(r);
            const double* columns[kDotsTogether];
            int64_t j = 0;
            for (; j + kDotsTogether <= rows_.numbers_; j += kDotsTogether) {
                for (int64_t t = 0; t < kDotsTogether; ++t) columns[t] = number(j + t);
                add_dot_tile<kDotsTogether, 1>(columns, &r, kBlock, g + 1 + j, 1);
            }
            for (; j < rows_.numbers_; ++j) {
                columns[0] = number(j);
                add_dot_tile<1, 1>(columns, &r, kBlock, g + 1 + j, 1);
            }
            for (const LinearRows::Codes& coded : rows_.coded_) {
                const uint32_t* code = codes(coded);
                double* own = g + coded.first;
                for (int k = 0; k < kBlock; ++k) own[code[k]] += r[k];
            }
        }
    }

    // Weights of the rows in the second derivative by the scores of outputs o and u.
    const double* second_derivatives(int o, int u) {
        second_derivative(weights(), scores(o), scores(u), o == u ? 1.0 : 0.0, spare_.data());
        return spare_.data();
    }

    // out (coefficients, stride) += X' diag(q) X, at least its upper triangle.
    void add_products(const double* q, double* out, int64_t stride) {
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
            multiply(vectors_[j], q, to);
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
        return rows_.cells_.data() + (block_ * rows_.numbers_ + j) * kBlock;
    }
    const uint32_t* codes(const LinearRows::Codes& coded) const {
        return coded.code.data() + block_ * kBlock;
    }
    // 1 for the rows of a class, else 0.
    const double* is_of(int c) {
        const int32_t* label = rows_.labels_.data() + block_ * kBlock;
        double* out = spare_.data() + 2 * kBlock;
        for (int k = 0; k < kBlock; ++k) out[k] = label[k] == c ? 1.0 : 0.0;
        return out;
    }

    const LinearRows& rows_;
    int outputs_;
    int64_t block_ = 0;
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
        tasks.visit(task, [&](int64_t block) {
            const int64_t first = block * kBlock;
            const int count = static_cast<int>(std::min<int64_t>(kBlock, rows - first));
            for (int64_t j = 0; j < numbers_; ++j) {
                double* to = cells_.data() + (block * numbers_ + j) * kBlock;
                load_numbers(numbers[j], first, count, to);
                subtract_center(to, centers[j], count);
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
        tasks.visit(task, [&](int64_t block) {
            pass.score(block, coefficients);
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
        tasks.visit(task, [&](int64_t block) {
            if (block % stride != 0) return;
            pass.score(block, coefficients);
            pass.probabilities();
            weight[task] += sum_of(pass.weights());
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
        tasks.visit(task, [&](int64_t block) {
            pass.score(block, coefficients);
            pass.all_probabilities(other);
            const int64_t first = block * kBlock, count = std::min<int64_t>(kBlock, rows_ - first);
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
