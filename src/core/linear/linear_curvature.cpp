#include "linear/linear_curvature.hpp"

#include <algorithm>
#include <utility>

#include "base/dots.hpp"
#include "base/parallel.hpp"
#include "linear/linear_pass.hpp"

namespace lessnaive {
namespace {

using linear::kBlock;
using linear::kQuick;
using linear::Tasks;
using linear::tasks_of;

// The chosen coefficients of one output.
struct Chosen {
    std::vector<int64_t> places;  // of coefficients
    int64_t first;                // place of the first of them among all chosen ones
    bool intercept = false;
    std::vector<int64_t> numbers;  // columns
    std::vector<int32_t> slots;    // of each coefficient, among those of this output; -1: none
    std::vector<size_t> coded;     // columns with a chosen coefficient

    int64_t dense() const { return intercept + static_cast<int64_t>(numbers.size()); }
};

std::vector<Chosen> by_output(const LinearRows& rows, int64_t numbers,
                              const std::vector<LinearRows::Codes>& coded,
                              const std::vector<int64_t>& chosen) {
    const int64_t p = rows.coefficients();
    std::vector<Chosen> out(rows.outputs());
    size_t next = 0;
    for (int o = 0; o < rows.outputs(); ++o) {
        Chosen& own = out[o];
        own.first = static_cast<int64_t>(next);
        own.slots.assign(p, -1);
        for (; next < chosen.size() && chosen[next] < (o + 1) * p; ++next) {
            const int64_t place = chosen[next] - o * p;
            own.slots[place] = static_cast<int32_t>(own.places.size());
            own.places.push_back(place);
            if (place == 0)
                own.intercept = true;
            else if (place <= numbers)
                own.numbers.push_back(place - 1);
        }
        for (size_t m = 0; m < coded.size(); ++m) {
            const auto from = own.slots.begin() + coded[m].first;
            if (std::any_of(from, from + coded[m].count, [](int32_t slot) { return slot >= 0; }))
                own.coded.push_back(m);
        }
    }
    return out;
}

// The slots of the codes of a block of rows, row by row.
struct Slots {
    std::vector<int32_t> starts, slots;

    void read(const LinearPass& pass, const Chosen& own) {
        starts.assign(1, 0);
        slots.clear();
        for (int k = 0; k < kBlock; ++k) {
            for (size_t m : own.coded) {
                const LinearRows::Codes& coded = pass.coded()[m];
                const int32_t slot = own.slots[coded.first + pass.codes(coded)[k]];
                if (slot >= 0) slots.push_back(slot);
            }
            starts.push_back(static_cast<int32_t>(slots.size()));
        }
    }
};

// Adds the products of a block of rows for one pair of outputs after the other.
class Products {
  public:
    Products(const std::vector<Chosen>& chosen, int64_t size)
        : chosen_(chosen), size_(size), slots_(chosen.size()), ones_(kBlock, 1.0) {}
    // Vectors point to other members.
    Products(const Products&) = delete;
    Products& operator=(const Products&) = delete;

    void read(const LinearPass& pass) {
        pass_ = &pass;
        for (size_t o = 0; o < chosen_.size(); ++o) slots_[o].read(pass, chosen_[o]);
    }

    // out += X_o' diag(q) X_u; with `half` at least its upper triangle.
    void add(int o, int u, const double* q, bool half, double* out) {
        const Chosen &left = chosen_[o], &right = chosen_[u];
        double* block = out + left.first * size_ + right.first;
        list(left, left_);
        list(right, right_);
        scaled_.resize(left_.size() * kBlock);
        for (size_t j = 0; j < left_.size(); ++j) {
            double* to = scaled_.data() + j * kBlock;
            block::multiply(left_[j], q, to);
            left_[j] = to;
        }
        add_dots(left_.data(), left_.size(), right_.data(), right_.size(), kBlock, half, block,
                 size_);
        const Slots &rows = slots_[o], &columns = slots_[u];
        for (size_t j = 0; j < left_.size() && !columns.slots.empty(); ++j) {
            double* row = block + static_cast<int64_t>(j) * size_;
            for (int k = 0; k < kBlock; ++k)
                for (int32_t e = columns.starts[k]; e < columns.starts[k + 1]; ++e)
                    row[columns.slots[e]] += left_[j][k];
        }
        if (rows.slots.empty()) return;
        if (!half) {
            for (size_t j = 0; j < right_.size(); ++j) {
                block::multiply(right_[j], q, scaled_one_);
                for (int k = 0; k < kBlock; ++k)
                    for (int32_t e = rows.starts[k]; e < rows.starts[k + 1]; ++e)
                        block[rows.slots[e] * size_ + static_cast<int64_t>(j)] += scaled_one_[k];
            }
        }
        for (int k = 0; k < kBlock; ++k)
            for (int32_t e = rows.starts[k]; e < rows.starts[k + 1]; ++e) {
                double* row = block + rows.slots[e] * size_;
                for (int32_t f = half ? e : columns.starts[k]; f < columns.starts[k + 1]; ++f)
                    row[columns.slots[f]] += q[k];
            }
    }

    // The same for a few rows of the block, with these weights.
    void add_few(int o, int u, const std::vector<uint8_t>& places, const std::vector<double>& q,
                 bool half, double* out) {
        const Chosen &left = chosen_[o], &right = chosen_[u];
        double* block = out + left.first * size_ + right.first;
        const size_t length = (places.size() + 3) / 4 * 4;  // as inner products take them
        gather(left, places, length, scaled_, left_);
        gather(right, places, length, few_, right_);
        for (size_t j = 0; j < left_.size(); ++j)
            for (size_t t = 0; t < places.size(); ++t) scaled_[j * length + t] *= q[t];
        add_dots(left_.data(), left_.size(), right_.data(), right_.size(), static_cast<int>(length),
                 half, block, size_);
        const Slots &rows = slots_[o], &columns = slots_[u];
        for (size_t t = 0; t < places.size(); ++t) {
            const int k = places[t];
            for (int32_t e = columns.starts[k]; e < columns.starts[k + 1]; ++e)
                for (size_t j = 0; j < left_.size(); ++j)
                    block[static_cast<int64_t>(j) * size_ + columns.slots[e]] += left_[j][t];
            for (int32_t e = rows.starts[k]; e < rows.starts[k + 1]; ++e) {
                double* row = block + rows.slots[e] * size_;
                for (size_t j = 0; j < right_.size() && !half; ++j) row[j] += q[t] * right_[j][t];
                for (int32_t f = half ? e : columns.starts[k]; f < columns.starts[k + 1]; ++f)
                    row[columns.slots[f]] += q[t];
            }
        }
    }

  private:
    // The intercept and the numbers of a few rows, with zeros behind them.
    void gather(const Chosen& own, const std::vector<uint8_t>& places, size_t length,
                std::vector<double>& to, std::vector<const double*>& out) const {
        list(own, out);
        to.assign(out.size() * length, 0.0);
        for (size_t j = 0; j < out.size(); ++j) {
            double* column = to.data() + j * length;
            for (size_t t = 0; t < places.size(); ++t) column[t] = out[j][places[t]];
            out[j] = column;
        }
    }

    // The intercept and the numbers.
    void list(const Chosen& own, std::vector<const double*>& out) const {
        out.clear();
        if (own.intercept) out.push_back(ones_.data());
        for (int64_t j : own.numbers) out.push_back(pass_->number(j));
    }

    const std::vector<Chosen>& chosen_;
    int64_t size_;
    const LinearPass* pass_ = nullptr;
    std::vector<Slots> slots_;
    std::vector<double> ones_, scaled_, few_;
    double scaled_one_[kBlock];
    std::vector<const double*> left_, right_;
};

// The rows of a block that count between two outputs: those in which the product of their
// probabilities is more than what is negligible for either.
class Likely {
  public:
    explicit Likely(std::vector<double> negligible)
        : negligible_(std::move(negligible)), rows_(negligible_.size()) {}

    std::vector<uint8_t> places;
    std::vector<double> q;  // second derivatives by the scores of the two

    void read(const LinearPass& pass) {
        for (size_t o = 0; o < rows_.size(); ++o) {
            rows_[o].clear();
            for (int k = 0; k < kBlock; ++k)
                if (pass.scores(static_cast<int>(o))[k] > negligible_[o])
                    rows_[o].push_back(static_cast<uint8_t>(k));
        }
    }

    // Whether they are few enough for a look at each.
    bool find(const LinearPass& pass, int o, int u, const double* weights) {
        places.clear();
        q.clear();
        const double negligible = std::min(negligible_[o], negligible_[u]);
        const double *left = pass.scores(o), *right = pass.scores(u);
        for (uint8_t k : rows_[negligible_[o] < negligible_[u] ? o : u]) {
            const double product = left[k] * right[k];
            if (product <= negligible || weights[k] == 0) continue;
            places.push_back(k);
            q.push_back(-weights[k] * product);
        }
        return places.size() <= kFew;
    }

  private:
    static constexpr size_t kFew = kBlock / 2;
    std::vector<double> negligible_;  // of each output
    std::vector<std::vector<uint8_t>> rows_;
};

static_assert(kBlock <= 256, "places of rows in a block are bytes");

int64_t stride_of(int64_t rows, int64_t enough) {
    return std::max<int64_t>(1, rows / std::max<int64_t>(enough, 1));
}

// Every so many blocks of rows one, where those of a whole table begin. Blocks of a part begin
// elsewhere, and may be in it with some of their rows.
struct BlockSample {
    int64_t stride;
    int64_t first;  // place of the first row of the part

    bool has(int64_t row) const { return (first + row) / kBlock % stride == 0; }

    // kept: the weights of the rows of a block that are in the sample, else 0. False if none is.
    bool keep(int64_t place, const double* weights, double* kept) const {
        const int64_t start = place * kBlock;
        if (!has(start) && !has(start + kBlock - 1)) return false;
        for (int k = 0; k < kBlock; ++k) kept[k] = has(start + k) ? weights[k] : 0.0;
        return true;
    }
};

// Fills the lower triangles: of the blocks in which both outputs have the same coefficients, and of
// the whole.
void mirror(const std::vector<Chosen>& chosen, int64_t size, double* out) {
    for (size_t o = 0; o < chosen.size(); ++o)
        for (size_t u = o; u < chosen.size(); ++u) {
            if (chosen[o].places != chosen[u].places) continue;
            const int64_t n = static_cast<int64_t>(chosen[o].places.size());
            double* block = out + chosen[o].first * size + chosen[u].first;
            for (int64_t i = 0; i < n; ++i)
                for (int64_t k = i + 1; k < n; ++k) block[k * size + i] = block[i * size + k];
        }
    for (int64_t i = 0; i < size; ++i)
        for (int64_t k = i + 1; k < size; ++k) out[k * size + i] = out[i * size + k];
}

}  // namespace

double curvature_of_part(const LinearRows& part, int64_t whole, int64_t first,
                         const double* coefficients, int64_t enough,
                         const std::vector<int64_t>& chosen, double* out, double negligible) {
    const int64_t size = static_cast<int64_t>(chosen.size());
    const Tasks tasks = tasks_of(part.rows(), size * size, linear::kForMatrices);
    const std::vector<Chosen> parts_of =
        by_output(part, LinearPass(part).numbers(), LinearPass(part).coded(), chosen);
    std::vector<double> sums(tasks.count * size * size, 0.0), weight(tasks.count, 0.0);
    // Whether two outputs have the same coefficients among the chosen ones.
    std::vector<char> same;
    for (const Chosen& o : parts_of)
        for (const Chosen& u : parts_of) same.push_back(o.places == u.places);
    std::vector<double> least;
    if (negligible > 0 && part.outputs() > 1) least = part.shares();
    for (double& each : least) each *= negligible;
    const BlockSample sample{stride_of(whole, enough), first};
    parallel_for(tasks.count, part.rows() * size / sample.stride, [&](int64_t task) {
        LinearPass pass(part);
        Products products(parts_of, size);
        Likely likely(least);
        double* sum = sums.data() + task * size * size;
        double kept[kBlock];
        tasks.visit(task, [&](int64_t place) {
            pass.go_to(place);
            if (!sample.keep(place, pass.weights(), kept)) return;
            pass.score(place, coefficients);
            pass.probabilities();
            weight[task] += block::sum(kept);
            products.read(pass);
            likely.read(pass);
            for (int o = 0; o < part.outputs(); ++o)
                for (int u = o; u < part.outputs(); ++u) {
                    poll();
                    const bool half = same[o * part.outputs() + u];
                    if (u > o && !least.empty() && likely.find(pass, o, u, kept))
                        products.add_few(o, u, likely.places, likely.q, half, sum);
                    else
                        products.add(o, u, pass.second_derivatives(o, u, kept), half, sum);
                }
        });
    });
    std::fill_n(out, size * size, 0.0);
    for (int64_t task = 0; task < tasks.count; ++task)
        for (int64_t i = 0; i < size * size; ++i) out[i] += sums[task * size * size + i];
    mirror(parts_of, size, out);
    double looked_at = 0;
    for (double each : weight) looked_at += each;
    return looked_at;
}

void curvature(const LinearRows& rows, const double* coefficients, int64_t enough,
               const std::vector<int64_t>& chosen, double* out, double negligible) {
    const double looked_at =
        curvature_of_part(rows, rows.rows(), 0, coefficients, enough, chosen, out, negligible);
    if (stride_of(rows.rows(), enough) == 1) return;
    if (looked_at == 0) return curvature(rows, coefficients, rows.rows(), chosen, out, negligible);
    const double factor = rows.total_weight() / looked_at;
    for (size_t i = 0; i < chosen.size() * chosen.size(); ++i) out[i] *= factor;
}

LinearCurvature::LinearCurvature(const LinearRows& rows, const double* coefficients, bool cautious)
    : rows_(rows) {
    const Tasks tasks = tasks_of(rows.rows(), 1);
    probabilities_.resize(tasks.blocks * rows.outputs() * kBlock);
    parallel_for(tasks.count, rows.rows() * (rows.coefficients() + 8) / kQuick, [&](int64_t task) {
        LinearPass pass(rows_);
        tasks.visit(task, [&](int64_t place) {
            pass.score(place, coefficients);
            if (cautious)
                pass.cautious_probabilities();
            else
                pass.probabilities();
            std::copy_n(pass.scores(0), rows_.outputs() * kBlock,
                        probabilities_.data() + place * rows_.outputs() * kBlock);
        });
    });
}

const double* LinearCurvature::probability(int64_t place, int o) const {
    return probabilities_.data() + (place * rows_.outputs() + o) * kBlock;
}

void LinearCurvature::multiply(const double* v, double* out) const {
    const int outputs = rows_.outputs();
    const int64_t size = outputs * rows_.coefficients();
    const Tasks tasks = tasks_of(rows_.rows(), size);
    std::vector<double> parts(tasks.count * size, 0.0);
    parallel_for(tasks.count, rows_.rows() * (rows_.coefficients() + 8) / kQuick,
                 [&](int64_t task) {
                     LinearPass pass(rows_);
                     double mean[kBlock], product[kBlock];
                     tasks.visit(task, [&](int64_t place) {
                         pass.score(place, v);
                         std::fill_n(mean, kBlock, 0.0);
                         for (int o = 0; o < outputs; ++o) {
                             block::multiply(pass.scores(o), probability(place, o), product);
                             block::add(product, mean);
                         }
                         for (int o = 0; o < outputs; ++o) {
                             const double* p = probability(place, o);
                             // The mean is over both classes; the score of the first one is 0.
                             block::subtract(mean, pass.scores(o));
                             block::multiply(pass.scores(o), p, pass.scores(o));
                             block::multiply(pass.scores(o), pass.weights(), pass.scores(o));
                         }
                         pass.add_gradient(parts.data() + task * size);
                     });
                 });
    std::fill_n(out, size, 0.0);
    for (int64_t task = 0; task < tasks.count; ++task)
        for (int64_t i = 0; i < size; ++i) out[i] += parts[task * size + i];
}

void LinearCurvature::diagonal(double* squares, double* with_intercept) const {
    const int outputs = rows_.outputs();
    const int64_t p = rows_.coefficients(), size = outputs * p;
    const Tasks tasks = tasks_of(rows_.rows(), 2 * size);
    std::vector<double> parts(tasks.count * 2 * size, 0.0);
    parallel_for(tasks.count, rows_.rows() * (p + 8) / kQuick, [&](int64_t task) {
        LinearPass pass(rows_);
        double q[kBlock], product[kBlock];
        tasks.visit(task, [&](int64_t place) {
            pass.go_to(place);
            for (int o = 0; o < outputs; ++o) {
                const double* own = probability(place, o);
                block::second_derivative(pass.weights(), own, own, 1.0, q);
                double *square = parts.data() + task * 2 * size + o * p, *beside = square + size;
                const double all = block::sum(q);
                square[0] += all;
                beside[0] += all;
                for (int64_t j = 0; j < pass.numbers(); ++j) {
                    block::multiply(pass.number(j), q, product);
                    beside[1 + j] += block::sum(product);
                    block::multiply(pass.number(j), product, product);
                    square[1 + j] += block::sum(product);
                }
                for (const LinearRows::Codes& coded : pass.coded()) {
                    const uint32_t* code = pass.codes(coded);
                    for (int k = 0; k < kBlock; ++k) square[coded.first + code[k]] += q[k];
                }
            }
        });
    });
    const int64_t dense = 1 + LinearPass(rows_).numbers();
    std::fill_n(squares, size, 0.0);
    std::fill_n(with_intercept, size, 0.0);
    for (int64_t task = 0; task < tasks.count; ++task)
        for (int64_t i = 0; i < size; ++i) {
            squares[i] += parts[task * 2 * size + i];
            with_intercept[i] += parts[task * 2 * size + size + i];
        }
    // An indicator is its own square.
    for (int o = 0; o < outputs; ++o)
        std::copy(squares + o * p + dense, squares + (o + 1) * p, with_intercept + o * p + dense);
}

}  // namespace lessnaive
