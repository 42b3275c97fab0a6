#include "linear_rows.hpp"

#include <algorithm>
#include <cmath>

#include "dots.hpp"
#include "parallel.hpp"
#include "simd.hpp"

namespace lessnaive {
namespace {

constexpr int kBlock = 256;
constexpr int64_t kMostTasks = 32;
constexpr int64_t kMostBytes = int64_t{1} << 27;

LESSNAIVE_WIDE void add_multiple(const double* x, double factor, double* out) {
    for (int k = 0; k < kBlock; ++k) out[k] += factor * x[k];
}

// In four sums whatever the machine, as in dots.hpp.
LESSNAIVE_WIDE double dot(const double* a, const double* b) {
    double out = 0;
    add_dot_tile<1, 1>(&a, &b, kBlock, &out, 0);
    return out;
}

struct Tasks {
    int64_t count, rows_each;
};

// `size`: numbers that each task keeps.
Tasks tasks_of(int64_t rows, int64_t size) {
    const int64_t bytes = std::max<int64_t>(1, size) * static_cast<int64_t>(sizeof(double));
    const int64_t most = std::clamp<int64_t>(kMostBytes / bytes, 1, kMostTasks);
    const int64_t blocks = (rows + kBlock - 1) / kBlock;
    const int64_t each = std::max<int64_t>(8, (blocks + most - 1) / most);
    return {(blocks + each - 1) / each, each * kBlock};
}

}  // namespace

// One thread's work on blocks of rows; what is behind the last row of a block has weight 0.
class LinearPass {
  public:
    explicit LinearPass(const LinearRows& rows)
        : rows_(rows),
          outputs_(rows.outputs()),
          scores_(static_cast<size_t>(rows.outputs()) * kBlock),
          weights_(kBlock) {}

    const double* scores(int o) const { return scores_.data() + o * kBlock; }
    double* scores(int o) { return scores_.data() + o * kBlock; }
    double weight(int k) const { return weights_[k]; }
    int count() const { return count_; }

    void score(int64_t first, const double* coefficients) {
        first_ = first;
        count_ = static_cast<int>(std::min<int64_t>(kBlock, rows_.rows_ - first));
        for (int k = 0; k < kBlock; ++k) weights_[k] = k < count_ ? rows_.weight(first + k) : 0.0;
        for (int o = 0; o < outputs_; ++o) {
            const double* b = coefficients + o * rows_.coefficients_;
            double* sum = scores(o);
            std::fill_n(sum, kBlock, b[0]);
            for (size_t j = 0; j < rows_.numbers_.size(); ++j)
                add_multiple(number(j), b[1 + j], sum);
            for (const LinearRows::Codes& coded : rows_.coded_) {
                const uint32_t* code = coded.code.data() + first;
                const double* own = b + coded.first;
                for (int k = 0; k < count_; ++k) sum[k] += own[code[k]];
            }
        }
    }

    // Scores become probabilities: of the second class, or of each. Returns the loss of the block.
    double probabilities() {
        double loss = 0;
        if (outputs_ == 1) {
            double* t = scores(0);
            for (int k = 0; k < count_; ++k) {
                const double small = std::exp(-std::fabs(t[k]));
                const bool second = label(k) == 1;
                // log(1 + exp(t)) - y t
                loss +=
                    weights_[k] * (std::max(t[k], 0.0) + std::log1p(small) - (second ? t[k] : 0));
                t[k] = (t[k] >= 0 ? 1.0 : small) / (1.0 + small);
            }
            return loss;
        }
        for (int k = 0; k < count_; ++k) {
            double highest = scores_[k];
            for (int o = 1; o < outputs_; ++o) highest = std::max(highest, scores(o)[k]);
            const double own = scores(label(k))[k] - highest;
            double sum = 0;
            for (int o = 0; o < outputs_; ++o)
                sum += scores(o)[k] = std::exp(scores(o)[k] - highest);
            for (int o = 0; o < outputs_; ++o) scores(o)[k] /= sum;
            loss += weights_[k] * (std::log(sum) - own);
        }
        return loss;
    }

    // Probabilities become the derivative of the loss by the scores.
    void residuals() {
        for (int o = 0; o < outputs_; ++o) {
            double* p = scores(o);
            const int own = outputs_ == 1 ? 1 : o;
            for (int k = 0; k < count_; ++k)
                p[k] = weights_[k] * (p[k] - (label(k) == own ? 1.0 : 0.0));
            std::fill(p + count_, p + kBlock, 0.0);
        }
    }

    void add_gradient(double* gradient) const {
        for (int o = 0; o < outputs_; ++o) {
            const double* r = scores(o);
            double* g = gradient + o * rows_.coefficients_;
            double sum = 0;
            for (int k = 0; k < count_; ++k) sum += r[k];
            g[0] += sum;
            for (size_t j = 0; j < rows_.numbers_.size(); ++j) g[1 + j] += dot(number(j), r);
            for (const LinearRows::Codes& coded : rows_.coded_) {
                const uint32_t* code = coded.code.data() + first_;
                double* own = g + coded.first;
                for (int k = 0; k < count_; ++k) own[code[k]] += r[k];
            }
        }
    }

    // out (coefficients, stride) += X' diag(q) X; the upper triangle is enough if q is for one
    // output with itself.
    void add_products(const double* q, double* out, int64_t stride) {
        const size_t numbers = rows_.numbers_.size();
        if (scaled_.empty()) {
            ones_.assign(kBlock, 1.0);
            scaled_.resize((1 + numbers) * kBlock);
            vectors_.resize(1 + numbers);
            scaled_vectors_.resize(1 + numbers);
        }
        vectors_[0] = ones_.data();
        for (size_t j = 0; j < numbers; ++j) vectors_[1 + j] = number(j);
        for (size_t j = 0; j <= numbers; ++j) {
            double* to = scaled_.data() + j * kBlock;
            for (int k = 0; k < kBlock; ++k) to[k] = vectors_[j][k] * q[k];
            scaled_vectors_[j] = to;
        }
        add_dots(vectors_.data(), vectors_.size(), scaled_vectors_.data(), scaled_vectors_.size(),
                 kBlock, true, out, stride);
        for (size_t m = 0; m < rows_.coded_.size(); ++m) {
            const LinearRows::Codes& coded = rows_.coded_[m];
            const uint32_t* code = coded.code.data() + first_;
            for (size_t j = 0; j <= numbers; ++j) {
                double* row = out + static_cast<int64_t>(j) * stride + coded.first;
                for (int k = 0; k < count_; ++k) row[code[k]] += scaled_vectors_[j][k];
            }
            for (int k = 0; k < count_; ++k)
                out[(coded.first + code[k]) * stride + coded.first + code[k]] += q[k];
            for (size_t other = m + 1; other < rows_.coded_.size(); ++other) {
                const LinearRows::Codes& right = rows_.coded_[other];
                const uint32_t* right_code = right.code.data() + first_;
                for (int k = 0; k < count_; ++k)
                    out[(coded.first + code[k]) * stride + right.first + right_code[k]] += q[k];
            }
        }
    }

  private:
    int label(int k) const { return rows_.labels_[first_ + k]; }
    const double* number(size_t j) const { return rows_.numbers_[j].data() + first_; }

    const LinearRows& rows_;
    int outputs_, count_ = 0;
    int64_t first_ = 0;
    std::vector<double> scores_, weights_, ones_, scaled_;
    std::vector<const double*> vectors_, scaled_vectors_;
};

LinearRows::LinearRows(const std::vector<Column>& numbers, const std::vector<CodedColumn>& coded,
                       const Column& labels, const double* weights, int64_t rows, int classes)
    : classes_(classes), rows_(rows), numbers_(numbers.size()), coded_(coded.size()) {
    coefficients_ = 1 + static_cast<int64_t>(numbers.size());
    for (size_t m = 0; m < coded.size(); ++m) {
        coded_[m].first = coefficients_;
        coded_[m].count = coded[m].table_rows;
        coefficients_ += coded[m].table_rows;
    }
    const auto blockwise = [&](auto&& work) {
        for (int64_t first = 0; first < rows; first += kBlock)
            work(first, static_cast<int>(std::min<int64_t>(kBlock, rows - first)));
    };
    const int64_t tasks = static_cast<int64_t>(numbers.size() + coded.size());
    parallel_for(tasks, tasks * rows, [&](int64_t task) {
        if (task < static_cast<int64_t>(numbers.size())) {
            // Room for whole blocks, so that the inner loops need not look where the rows end.
            numbers_[task].assign((rows + kBlock - 1) / kBlock * kBlock, 0.0);
            blockwise([&](int64_t first, int count) {
                load_numbers(numbers[task], first, count, numbers_[task].data() + first);
            });
        } else {
            const size_t m = task - numbers.size();
            coded_[m].code.resize(rows);
            blockwise([&](int64_t first, int count) {
                load_codes(coded[m], first, count, coded_[m].code.data() + first);
            });
        }
    });
    labels_.resize(rows);
    const CodedColumn label_codes{labels, 0, classes};
    blockwise([&](int64_t first, int count) {
        uint32_t found[kBlock];
        load_codes(label_codes, first, count, found);
        std::copy_n(found, count, labels_.data() + first);
    });
    total_weight_ = static_cast<double>(rows);
    if (weights) {
        weights_.assign(weights, weights + rows);
        total_weight_ = 0;
        for (double w : weights_) total_weight_ += w;
    }
}

double LinearRows::loss(const double* coefficients, double* gradient) const {
    const int64_t size = outputs() * coefficients_;
    const Tasks tasks = tasks_of(rows_, size);
    std::vector<double> losses(tasks.count, 0.0), parts(gradient ? tasks.count * size : 0, 0.0);
    parallel_for(tasks.count, rows_ * (coefficients_ + 8), [&](int64_t task) {
        LinearPass pass(*this);
        const int64_t end = std::min(rows_, (task + 1) * tasks.rows_each);
        for (int64_t first = task * tasks.rows_each; first < end; first += kBlock) {
            pass.score(first, coefficients);
            losses[task] += pass.probabilities();
            if (!gradient) continue;
            pass.residuals();
            pass.add_gradient(parts.data() + task * size);
        }
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

void LinearRows::curvature(const double* coefficients, double* out) const {
    const int64_t p = coefficients_, size = outputs() * p;
    const Tasks tasks = tasks_of(rows_, size * size);
    std::vector<double> parts(tasks.count * size * size, 0.0);
    parallel_for(tasks.count, rows_ * size, [&](int64_t task) {
        LinearPass pass(*this);
        std::vector<double> q(kBlock);
        double* part = parts.data() + task * size * size;
        const int64_t end = std::min(rows_, (task + 1) * tasks.rows_each);
        for (int64_t first = task * tasks.rows_each; first < end; first += kBlock) {
            pass.score(first, coefficients);
            pass.probabilities();
            for (int o = 0; o < outputs(); ++o)
                for (int u = o; u < outputs(); ++u) {
                    const double *a = pass.scores(o), *b = pass.scores(u);
                    for (int k = 0; k < kBlock; ++k) {
                        const bool there = k < pass.count();
                        q[k] = there ? pass.weight(k) * a[k] * ((o == u ? 1.0 : 0.0) - b[k]) : 0.0;
                    }
                    pass.add_products(q.data(), part + o * p * size + u * p, size);
                }
        }
    });
    std::fill_n(out, size * size, 0.0);
    for (int64_t task = 0; task < tasks.count; ++task)
        for (int64_t i = 0; i < size * size; ++i) out[i] += parts[task * size * size + i];
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
    parallel_for(tasks.count, rows_ * coefficients_, [&](int64_t task) {
        LinearPass pass(*this);
        const int64_t end = std::min(rows_, (task + 1) * tasks.rows_each);
        for (int64_t first = task * tasks.rows_each; first < end; first += kBlock) {
            pass.score(first, coefficients);
            pass.probabilities();
            for (int k = 0; k < pass.count(); ++k) {
                double* row = out + (first + k) * classes_;
                if (outputs() == 1) {
                    row[1] = pass.scores(0)[k];
                    row[0] = 1.0 - row[1];
                } else {
                    for (int o = 0; o < outputs(); ++o) row[o] = pass.scores(o)[k];
                }
            }
        }
    });
}

}  // namespace lessnaive
