#include "contingency.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "parallel.hpp"

namespace lessnaive {
namespace {

constexpr int kBlock = 1024;
// Larger tables of counts, of columns with thousands of values, are mostly empty: their cells are
// sorted rather than laid out.
constexpr int64_t kLargestTable = 1 << 22;
// Small tables are counted in whole numbers, in as many copies as there are rows in flight: equal
// neighbours then do not wait for each other.
constexpr int64_t kSmallTable = 1 << 12;
constexpr int kCopies = 4;

using Table = std::vector<double>;

double plogp(double count) { return count > 0 ? count * std::log(count) : 0.0; }

// Entropy of counts, in nats.
double entropy(const Table& counts) {
    double total = 0, sum = 0;
    for (double count : counts) {
        total += count;
        sum += plogp(count);
    }
    return total > 0 ? std::max(0.0, std::log(total) - sum / total) : 0.0;
}

double symmetrical(double a, double b, double joint) {
    // What rounding leaves of no entropy is none.
    constexpr double kNothing = 1e-12;
    if (a < kNothing || b < kNothing) return 0.0;
    return std::min(1.0, std::max(0.0, 2 * (a + b - joint) / (a + b)));
}

// Two columns read together, block by block.
struct Pair {
    const CodedColumn &a, &b;
    const double* weights;
    int64_t rows;

    template <class Visitor>
    void visit(Visitor&& visit) const {
        uint32_t first[kBlock], second[kBlock];
        for (int64_t row = 0; row < rows; row += kBlock) {
            const int count = static_cast<int>(std::min<int64_t>(kBlock, rows - row));
            load_codes(a, row, count, first);
            load_codes(b, row, count, second);
            visit(row, count, first, second);
        }
    }
};

// Joint counts, (a.table_rows, b.table_rows).
Table count_pair(const Pair& pair) {
    const int64_t width = pair.b.table_rows, cells = pair.a.table_rows * width;
    Table out(cells, 0.0);
    if (pair.weights == nullptr && cells <= kSmallTable) {
        std::vector<uint32_t> copies(cells * kCopies, 0);
        uint32_t* base = copies.data();
        const uint32_t stride = static_cast<uint32_t>(width * kCopies);
        pair.visit([&](int64_t, int count, const uint32_t* a, const uint32_t* b) {
            for (int k = 0; k < count; ++k)
                ++base[a[k] * stride + b[k] * kCopies + static_cast<uint32_t>(k % kCopies)];
        });
        for (int64_t i = 0; i < cells; ++i)
            for (int copy = 0; copy < kCopies; ++copy) out[i] += copies[i * kCopies + copy];
        return out;
    }
    pair.visit([&](int64_t row, int count, const uint32_t* a, const uint32_t* b) {
        for (int k = 0; k < count; ++k)
            out[a[k] * width + b[k]] += pair.weights ? pair.weights[row + k] : 1.0;
    });
    return out;
}

struct Margins {
    Table rows, columns;
    double total = 0;
};

Margins margins(const Table& table, int64_t height, int64_t width) {
    Margins out{Table(height, 0.0), Table(width, 0.0)};
    for (int64_t i = 0; i < height; ++i)
        for (int64_t j = 0; j < width; ++j) {
            out.rows[i] += table[i * width + j];
            out.columns[j] += table[i * width + j];
            out.total += table[i * width + j];
        }
    return out;
}

// Rows without a value of a count for its values in proportion to their frequency, rows without a
// value of b likewise, and rows without both for the cells in proportion to theirs. Where a column
// has no value at all nothing can be shared out, and nothing is left of the table.
void spread_missing(Table& table, int64_t height, int64_t width) {
    const Margins sums = margins(table, height, width);
    const double known_a = sums.total - sums.rows[0], known_b = sums.total - sums.columns[0];
    const double both = table[0], complete = sums.total - sums.rows[0] - sums.columns[0] + both;
    if (sums.rows[0] == 0 && sums.columns[0] == 0) return;
    const bool known = known_a > 0 && known_b > 0;
    for (int64_t i = 1; i < height; ++i)
        for (int64_t j = 1; j < width; ++j) {
            double& cell = table[i * width + j];
            if (!known) {
                cell = 0;
                continue;
            }
            const double shared_both = complete > 0 ? cell / complete * both : 0.0;
            cell += sums.rows[i] / known_a * table[j] +
                    sums.columns[j] / known_b * table[i * width] + shared_both;
        }
    std::fill_n(table.begin(), width, 0.0);
    for (int64_t i = 0; i < height; ++i) table[i * width] = 0.0;
}

double dense(const Pair& pair, Missing missing) {
    Table table = count_pair(pair);
    const int64_t height = pair.a.table_rows, width = pair.b.table_rows;
    if (missing == Missing::spread) spread_missing(table, height, width);
    const Margins sums = margins(table, height, width);
    return symmetrical(entropy(sums.rows), entropy(sums.columns), entropy(table));
}

// The same without the table; missing is a value of its own.
double sparse(const Pair& pair) {
    std::vector<std::pair<uint64_t, double>> cells;
    cells.reserve(pair.rows);
    Table rows(pair.a.table_rows, 0.0), columns(pair.b.table_rows, 0.0), counts;
    pair.visit([&](int64_t row, int count, const uint32_t* a, const uint32_t* b) {
        for (int k = 0; k < count; ++k) {
            const double weight = pair.weights ? pair.weights[row + k] : 1.0;
            rows[a[k]] += weight;
            columns[b[k]] += weight;
            cells.emplace_back((uint64_t{a[k]} << 32) | b[k], weight);
        }
    });
    std::sort(cells.begin(), cells.end());
    for (size_t i = 0; i < cells.size(); ++i) {
        if (i == 0 || cells[i].first != cells[i - 1].first) counts.push_back(0.0);
        counts.back() += cells[i].second;
    }
    return symmetrical(entropy(rows), entropy(columns), entropy(counts));
}

}  // namespace

std::vector<double> symmetrical_uncertainty(const CodedColumn& column,
                                            const std::vector<CodedColumn>& others,
                                            const double* weights, int64_t rows, Missing missing) {
    std::vector<double> out(others.size());
    const int64_t tasks = static_cast<int64_t>(others.size());
    parallel_for(tasks, rows * tasks, [&](int64_t j) {
        const Pair pair{column, others[j], weights, rows};
        const bool small = column.table_rows <= kLargestTable / others[j].table_rows;
        out[j] = small ? dense(pair, missing) : sparse(pair);
    });
    return out;
}

}  // namespace lessnaive
