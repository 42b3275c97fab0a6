#include "search/contingency.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/interrupt.hpp"
#include "base/parallel.hpp"
#include "base/simd.hpp"

namespace lessnaive {
namespace {

constexpr int kBlock = 1024;
// Larger tables of counts, of columns with thousands of values, are mostly empty: their cells are
// sorted rather than laid out.
constexpr int64_t kLargestTable = 1 << 22;
// One column is counted together with several others at once, in a table of all combinations that
// stays small enough for the fastest memory: each row then costs one addition, not one per pair.
constexpr int64_t kPackedCells = 1 << 12;

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
            poll();
            const int count = static_cast<int>(std::min<int64_t>(kBlock, rows - row));
            load_codes(a, row, count, first);
            load_codes(b, row, count, second);
            visit(row, count, first, second);
        }
    }
};

// Joint counts, (a.table_rows, b.table_rows).
Table count_pair(const Pair& pair) {
    const int64_t width = pair.b.table_rows;
    Table out(pair.a.table_rows * width, 0.0);
    pair.visit([&](int64_t row, int count, const uint32_t* a, const uint32_t* b) {
        for (int k = 0; k < count; ++k)
            out[a[k] * width + b[k]] += pair.weights ? pair.weights[row + k] : 1.0;
    });
    return out;
}

// codes = codes * size + the codes of another column: mixed digits of one number.
LESSNAIVE_WIDE void append_digit(const uint8_t* column, int count, int size, uint16_t* codes) {
    const uint8_t last = static_cast<uint8_t>(size - 1);
    for (int k = 0; k < count; ++k)
        codes[k] = static_cast<uint16_t>(codes[k] * size + std::min(column[k], last));
}

// Counts of one column with several others, all of them of bytes.
class Pack {
  public:
    explicit Pack(const CodedColumn& column) : digits_{&column}, cells_(column.table_rows) {}

    static bool fits(const CodedColumn& coded) {
        return coded.column.dtype == DType::u8 && coded.column.stride == 1 && coded.shift == 0 &&
               coded.table_rows <= 256;
    }

    bool has_room_for(const CodedColumn& other, int64_t most) const {
        return cells_ * other.table_rows <= most;
    }

    void add(const CodedColumn& other, size_t place) {
        digits_.push_back(&other);
        places_.push_back(place);
        cells_ *= other.table_rows;
    }

    // Where the columns besides the first stood.
    const std::vector<size_t>& places() const { return places_; }

    // Joint counts of the first column with each of the others, in their order.
    std::vector<Table> tables(const double* weights, int64_t rows) const {
        const Table counts =
            weights ? count<double>(weights, rows) : count<uint32_t>(nullptr, rows);
        std::vector<Table> out;
        int64_t below = cells_ / digits_[0]->table_rows;
        const int64_t first = below;
        for (size_t i = 1; i < digits_.size(); ++i) {
            const int64_t size = digits_[i]->table_rows;
            below /= size;
            Table table(digits_[0]->table_rows * size, 0.0);
            for (int64_t cell = 0; cell < cells_; ++cell)
                table[cell / first * size + cell / below % size] += counts[cell];
            out.push_back(std::move(table));
        }
        return out;
    }

  private:
    template <class Count>
    Table count(const double* weights, int64_t rows) const {
        // Two tables in turn: equal neighbours then do not wait for each other.
        std::vector<Count> even(cells_, 0), odd(cells_, 0);
        uint16_t codes[kBlock];
        for (int64_t row = 0; row < rows; row += kBlock) {
            const int block = static_cast<int>(std::min<int64_t>(kBlock, rows - row));
            std::fill_n(codes, block, uint16_t{0});
            for (const CodedColumn* digit : digits_)
                append_digit(reinterpret_cast<const uint8_t*>(digit->column.data) + row, block,
                             static_cast<int>(digit->table_rows), codes);
            const auto weight = [&](int k) {
                return weights ? static_cast<Count>(weights[row + k]) : Count{1};
            };
            int k = 0;
            for (; k + 1 < block; k += 2) {
                even[codes[k]] += weight(k);
                odd[codes[k + 1]] += weight(k + 1);
            }
            if (k < block) even[codes[k]] += weight(k);
        }
        Table out(cells_);
        for (int64_t i = 0; i < cells_; ++i)
            out[i] = static_cast<double>(even[i]) + static_cast<double>(odd[i]);
        return out;
    }

    std::vector<const CodedColumn*> digits_;
    std::vector<size_t> places_;
    int64_t cells_;
};

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

double uncertainty(Table table, int64_t height, int64_t width, Missing missing) {
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

// Which columns are counted together, and the places of those that are counted by themselves.
struct Plan {
    std::vector<Pack> packs;
    std::vector<size_t> alone;
};

Plan make_plan(const CodedColumn& column, const std::vector<CodedColumn>& others, int64_t rows) {
    // Adding up the cells must not cost more than counting the rows, nor the rows overflow a count.
    const int64_t most = std::min(kPackedCells, rows);
    Plan plan;
    for (size_t j = 0; j < others.size(); ++j) {
        const bool fits = Pack::fits(column) && Pack::fits(others[j]) &&
                          rows < (int64_t{1} << 32) &&
                          column.table_rows * others[j].table_rows <= most;
        if (!fits) {
            plan.alone.push_back(j);
            continue;
        }
        if (plan.packs.empty() || !plan.packs.back().has_room_for(others[j], most))
            plan.packs.emplace_back(column);
        plan.packs.back().add(others[j], j);
    }
    return plan;
}

}  // namespace

std::vector<double> symmetrical_uncertainty(const CodedColumn& column,
                                            const std::vector<CodedColumn>& others,
                                            const double* weights, int64_t rows, Missing missing) {
    std::vector<double> out(others.size());
    const Plan plan = make_plan(column, others, rows);
    const int64_t together = static_cast<int64_t>(plan.packs.size());
    const int64_t tasks = together + static_cast<int64_t>(plan.alone.size());
    parallel_for(tasks, rows * static_cast<int64_t>(others.size()), [&](int64_t task) {
        if (task < together) {
            const Pack& pack = plan.packs[task];
            std::vector<Table> tables = pack.tables(weights, rows);
            for (size_t i = 0; i < tables.size(); ++i) {
                const size_t j = pack.places()[i];
                out[j] = uncertainty(std::move(tables[i]), column.table_rows, others[j].table_rows,
                                     missing);
            }
            return;
        }
        const size_t j = plan.alone[task - together];
        const Pair pair{column, others[j], weights, rows};
        const bool small = column.table_rows <= kLargestTable / others[j].table_rows;
        out[j] =
            small ? uncertainty(count_pair(pair), column.table_rows, others[j].table_rows, missing)
                  : sparse(pair);
    });
    return out;
}

}  // namespace lessnaive
