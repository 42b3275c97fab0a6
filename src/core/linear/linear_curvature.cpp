#include "linear/linear_curvature.hpp"

#include <algorithm>
#include <optional>

#include "base/dots.hpp"
#include "base/parallel.hpp"
#include "linear/chosen.hpp"
#include "linear/likely_products.hpp"
#include "linear/linear_pass.hpp"

namespace lessnaive {
namespace {

using linear::kBlock;
using linear::kQuick;
using linear::Tasks;
using linear::tasks_of;

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

  private:
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
    std::vector<double> ones_, scaled_;
    double scaled_one_[kBlock];
    std::vector<const double*> left_, right_;
};

// Of an output's own second derivatives so little may be left out: alone of each row, as a share of
// what rows have at the most, or of what they have in the mean where all together would be more
// than the second share of what there is.
constexpr double kAlone = 1e-5, kMostLeftOut = 1e-3;

Negligible negligible_of(const LinearRows& rows, double between) {
    std::vector<double> shares = rows.shares();
    if (rows.outputs() == 1) shares = {std::min(shares[0], shares[1])};
    Negligible out;
    for (double share : shares) {
        out.alone.push_back(std::min(between, kAlone) * share);
        out.between.push_back(between * share);
    }
    return out;
}

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

// The weight of the rows looked at, and what LikelyProducts tells.
struct Looked {
    double weight;
    std::vector<double> all, left_out;
};

Looked add_up(const LinearRows& part, int64_t whole, int64_t first, const double* coefficients,
              int64_t enough, const std::vector<int64_t>& chosen, double* out,
              const Negligible* negligible, const double* by_block) {
    const int64_t size = static_cast<int64_t>(chosen.size());
    const Tasks tasks = tasks_of(part.rows(), size * size, linear::kForMatrices);
    const std::vector<Chosen> parts_of =
        by_output(part, LinearPass(part).numbers(), LinearPass(part).coded(), chosen);
    std::vector<double> sums(tasks.count * size * size, 0.0);
    const std::vector<double> none(part.outputs(), 0.0);
    std::vector<Looked> looked(tasks.count, Looked{0.0, none, none});
    // Whether two outputs have the same coefficients among the chosen ones.
    std::vector<char> same;
    for (const Chosen& o : parts_of)
        for (const Chosen& u : parts_of) same.push_back(o.places == u.places);
    const BlockSample sample{stride_of(whole, enough), first};
    parallel_for(tasks.count, part.rows() * size / sample.stride, [&](int64_t task) {
        LinearPass pass(part);
        Products products(parts_of, size);
        std::optional<LikelyProducts> likely;
        if (negligible) likely.emplace(parts_of, size, *negligible, tasks.blocks_each);
        double* sum = sums.data() + task * size * size;
        double kept[kBlock];
        tasks.visit(task, [&](int64_t place) {
            pass.go_to(place);
            if (!sample.keep(place, pass.weights(), kept)) return;
            if (by_block) {
                const int64_t count = part.outputs() * kBlock;
                std::copy_n(by_block + place * count, count, pass.scores(0));
            } else {
                pass.score(place, coefficients);
                pass.probabilities();
            }
            looked[task].weight += block::sum(kept);
            if (likely && likely->take(pass, kept, sum)) return;
            products.read(pass);
            for (int o = 0; o < part.outputs(); ++o)
                for (int u = o; u < part.outputs(); ++u) {
                    poll();
                    const bool half = same[o * part.outputs() + u];
                    products.add(o, u, pass.second_derivatives(o, u, kept), half, sum);
                }
        });
        if (!likely) return;
        likely->finish(sum);
        looked[task].all = likely->all();
        looked[task].left_out = likely->left_out();
    });
    std::fill_n(out, size * size, 0.0);
    for (int64_t task = 0; task < tasks.count; ++task)
        for (int64_t i = 0; i < size * size; ++i) out[i] += sums[task * size * size + i];
    mirror(parts_of, size, out);
    Looked together{0.0, none, none};
    for (const Looked& each : looked) {
        together.weight += each.weight;
        for (size_t o = 0; o < none.size(); ++o) {
            together.all[o] += each.all[o];
            together.left_out[o] += each.left_out[o];
        }
    }
    return together;
}

}  // namespace

double curvature_of_part(const LinearRows& part, int64_t whole, int64_t first,
                         const double* coefficients, int64_t enough,
                         const std::vector<int64_t>& chosen, double* out) {
    return add_up(part, whole, first, coefficients, enough, chosen, out, nullptr, nullptr).weight;
}

void curvature(const LinearRows& rows, const double* coefficients, int64_t enough,
               const std::vector<int64_t>& chosen, double* out, double negligible,
               const double* by_block) {
    Negligible little;
    if (negligible > 0) little = negligible_of(rows, negligible);
    const auto look = [&] {
        return add_up(rows, rows.rows(), 0, coefficients, enough, chosen, out,
                      negligible > 0 ? &little : nullptr, by_block);
    };
    Looked looked = look();
    bool much = false;  // where rows are sure of their class, what is left is made of little
    for (size_t o = 0; o < looked.all.size(); ++o) {
        much = much || looked.left_out[o] > kMostLeftOut * looked.all[o];
        if (negligible > 0 && looked.weight > 0)
            little.alone[o] = std::min(little.alone[o], kAlone * looked.all[o] / looked.weight);
    }
    if (much) looked = look();
    if (stride_of(rows.rows(), enough) == 1) return;
    if (looked.weight == 0)
        return curvature(rows, coefficients, rows.rows(), chosen, out, negligible, by_block);
    const double factor = rows.total_weight() / looked.weight;
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
