#include "table/scoring.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "base/padding.hpp"
#include "base/parallel.hpp"
#include "base/simd.hpp"
#include "table/parabola.hpp"

namespace lessnaive {
namespace {

constexpr int kBlock = SegmentedLines::kBlock;
constexpr int64_t kBlocksPerTask = 16;

std::vector<double> pad_rows(const double* table, int64_t rows, int classes, int pad) {
    std::vector<double> out(rows * pad, 0.0);
    for (int64_t r = 0; r < rows; ++r)
        std::copy(table + r * classes, table + (r + 1) * classes, out.begin() + r * pad);
    return out;
}

// Adds a row of each of kTables tables to each row of scores, in the order of the tables: several
// at a time, because reading and writing the scores costs more than adding to them.
template <int kPad, int kTables>
LESSNAIVE_WIDE void add_rows(const uint32_t (*codes)[kBlock], const double* const* tables,
                             int count, int pad, double* scores) {
    const int width = kPad > 0 ? kPad : pad;
    for (int k = 0; k < count; ++k) {
        double* sum = scores + k * width;
        const double* rows[kTables];
        for (int t = 0; t < kTables; ++t) rows[t] = tables[t] + int64_t{codes[t][k]} * width;
        for (int c = 0; c < width; ++c) {
            double value = sum[c];
            for (int t = 0; t < kTables; ++t) value += rows[t][c];
            sum[c] = value;
        }
    }
}

struct Found {
    bool missing = false, infinite = false;
};

LESSNAIVE_WIDE Found look_at(const double* x, int count) {
    Found found;
    for (int k = 0; k < count; ++k) {
        found.missing |= x[k] != x[k];
        found.infinite |= std::fabs(x[k]) > std::numeric_limits<double>::max();
    }
    return found;
}

// Where the numbers of a block are on a curve.
struct Located {
    int64_t segment[kBlock];
    double away[kBlock];
};

// Scores of a block, (kBlock, pad): a row of a table, or what a row of lines gives, is added to a
// row of scores.
class RowScorer {
  public:
    RowScorer(const Terms& terms, const double* intercept, int classes)
        : terms_(terms), pad_(padded_classes(classes)) {
        intercept_ = pad_rows(intercept, 1, classes, pad_);
        for (const Lookup& lookup : terms.lookups)
            tables_.push_back(pad_rows(lookup.table, lookup.coded.table_rows, classes, pad_));
        for (const PairLookup& pair : terms.pairs)
            tables_.push_back(
                pad_rows(pair.table, pair.first.codes * pair.second.codes, classes, pad_));
        for (const Piecewise& curve : terms.curves) lines_.emplace_back(curve, classes, pad_);
        // Curves whose segments are sides of pairs have room of their own, all others share one.
        room_.assign(lines_.size(), 0);
        for (const PairLookup& pair : terms.pairs)
            for (const PairSide* side : {&pair.first, &pair.second})
                if (side->curve >= 0 && room_[side->curve] == 0) room_[side->curve] = rooms_++;
    }

    int pad() const { return pad_; }
    int rooms() const { return rooms_; }

    // Place of the first curve whose column holds an infinite value, or -1. `located` has `rooms`.
    int64_t score(int64_t first, int count, Located* located, double* scores) const {
        int64_t infinite = static_cast<int64_t>(lines_.size());
        for (size_t j = 0; j < lines_.size(); ++j)
            if (room_[j] > 0) locate(j, first, count, located, infinite);
        with_padding(pad_,
                     [&](auto width) { score_tables<width()>(first, count, located, scores); });
        for (size_t j = 0; j < lines_.size(); ++j) {
            if (room_[j] == 0) locate(j, first, count, located, infinite);
            const Located& own = located[room_[j]];
            lines_[j].add_by_row(own.segment, own.away, count, scores);
        }
        return infinite == static_cast<int64_t>(lines_.size()) ? -1 : infinite;
    }

  private:
    void locate(size_t j, int64_t first, int count, Located* located, int64_t& infinite) const {
        double x[kBlock];
        load_numbers(terms_.curves[j].column, first, count, x);
        if (look_at(x, count).infinite) infinite = std::min(infinite, static_cast<int64_t>(j));
        Located& own = located[room_[j]];
        lines_[j].locate(x, count, own.segment, own.away);
    }

    template <int kPad>
    void score_tables(int64_t first, int count, const Located* located, double* scores) const {
        for (int k = 0; k < count; ++k) std::copy_n(intercept_.data(), pad_, scores + k * pad_);
        size_t j = 0;
        for (; j + 4 <= tables_.size(); j += 4)
            add_tables<kPad, 4>(j, first, count, located, scores);
        for (; j < tables_.size(); ++j) add_tables<kPad, 1>(j, first, count, located, scores);
    }

    template <int kPad, int kTables>
    void add_tables(size_t j, int64_t first, int count, const Located* located,
                    double* scores) const {
        uint32_t codes[kTables][kBlock];
        const double* tables[kTables];
        for (int t = 0; t < kTables; ++t) {
            load_table_rows(j + t, first, count, located, codes[t]);
            tables[t] = tables_[j + t].data();
        }
        add_rows<kPad, kTables>(codes, tables, count, pad_, scores);
    }

    void load_table_rows(size_t j, int64_t first, int count, const Located* located,
                         uint32_t* out) const {
        if (j < terms_.lookups.size())
            return load_codes(terms_.lookups[j].coded, first, count, out);
        const PairLookup& pair = terms_.pairs[j - terms_.lookups.size()];
        uint32_t second[kBlock];
        load_pair_codes(pair.first, first, count, located, out);
        load_pair_codes(pair.second, first, count, located, second);
        const uint32_t width = static_cast<uint32_t>(pair.second.codes);
        for (int k = 0; k < count; ++k) out[k] = out[k] * width + second[k];
    }

    void load_pair_codes(const PairSide& side, int64_t first, int count, const Located* located,
                         uint32_t* out) const {
        const uint32_t* places = side.places;
        if (side.curve >= 0) {
            const int64_t* segment = located[room_[side.curve]].segment;
            for (int k = 0; k < count; ++k) out[k] = places[segment[k]];
        } else if (places) {
            visit_codes(side.coded, first, count,
                        [=](int k, uint32_t row) { out[k] = places[row]; });
        } else {
            load_codes(side.coded, first, count, out);
        }
    }

    const Terms& terms_;
    std::vector<std::vector<double>> tables_;  // of the lookups, then of the pairs
    std::vector<SegmentedLines> lines_;
    std::vector<int> room_;  // of each curve among the places of a block on curves
    int rooms_ = 1;
    std::vector<double> intercept_;
    int pad_;
};

// Scores of a block from quadratics, (classes, kBlock): class by class, so that the inner loop runs
// over rows and is wide whatever the number of classes. Returns what was found in x.
LESSNAIVE_WIDE Found add_quadratic(const double* x, const double* parameters, int count,
                                   int classes, double* scores) {
    const Found found = look_at(x, count);
    for (int c = 0; c < classes; ++c) {
        const Parabola score(parameters, classes, c);
        double* sum = scores + c * kBlock;
        if (!found.missing) {
            for (int k = 0; k < count; ++k) sum[k] += score.at(x[k]);
        } else {
            for (int k = 0; k < count; ++k) sum[k] += x[k] == x[k] ? score.at(x[k]) : score.missing;
        }
    }
    return found;
}

LESSNAIVE_WIDE Found add_line(const double* x, const double* parameters, int count, int classes,
                              double* scores) {
    const Found found = look_at(x, count);
    for (int c = 0; c < classes; ++c) {
        const double center = parameters[c], slope = parameters[classes + c];
        double* sum = scores + c * kBlock;
        for (int k = 0; k < count; ++k) {
            const double score = rise(slope, distance(x[k], center));
            sum[k] += x[k] == x[k] ? score : 0.0;
        }
    }
    return found;
}

// Index of the first column with an infinite value, or -1.
int64_t score_quadratics(const std::vector<Quadratic>& quadratics, int64_t first, int count,
                         int classes, double* scores) {
    double x[kBlock];
    int64_t infinite = -1;
    std::fill_n(scores, kBlock * classes, 0.0);
    for (size_t j = 0; j < quadratics.size(); ++j) {
        load_numbers(quadratics[j].column, first, count, x);
        const auto add = quadratics[j].is_line ? add_line : add_quadratic;
        const Found found = add(x, quadratics[j].parameters, count, classes, scores);
        if (found.infinite && infinite < 0) infinite = static_cast<int64_t>(j);
    }
    return infinite;
}

void normalize(double* row, int classes, Output output) {
    if (output == Output::joint) return;
    double highest = row[0];
    for (int c = 1; c < classes; ++c) highest = std::max(highest, row[c]);
    double sum = 0;
    if (output == Output::probability) {
        for (int c = 0; c < classes; ++c) sum += row[c] = std::exp(row[c] - highest);
        for (int c = 0; c < classes; ++c) row[c] /= sum;
    } else {
        for (int c = 0; c < classes; ++c) sum += std::exp(row[c] - highest);
        // Not row[c] - (highest + log(sum)): far from all classes that would lose the digits.
        const double log_sum = std::log(sum);
        for (int c = 0; c < classes; ++c) row[c] = (row[c] - highest) - log_sum;
    }
}

void keep_smallest(std::atomic<int64_t>& kept, int64_t found) {
    int64_t known = kept;
    while (found < known && !kept.compare_exchange_weak(known, found)) {
    }
}

}  // namespace

int64_t score(const Terms& terms, const double* intercept, int64_t rows, int classes, Output output,
              double* out) {
    const RowScorer scorer(terms, intercept, classes);
    const int64_t task_rows = kBlock * kBlocksPerTask;
    const int64_t tasks = (rows + task_rows - 1) / task_rows;
    const int64_t n_quadratics = static_cast<int64_t>(terms.quadratics.size());
    const int64_t none = n_quadratics + static_cast<int64_t>(terms.curves.size());
    const int64_t cells =
        rows * (none + static_cast<int64_t>(terms.lookups.size() + terms.pairs.size() + 1));
    std::atomic<int64_t> infinite{none};
    parallel_for(tasks, cells, [&](int64_t task) {
        std::vector<double> by_row(kBlock * scorer.pad()), by_class(kBlock * classes);
        std::vector<Located> located(scorer.rooms());
        const int64_t end = std::min(rows, (task + 1) * task_rows);
        for (int64_t first = task * task_rows; first < end; first += kBlock) {
            const int count = static_cast<int>(std::min<int64_t>(kBlock, end - first));
            const int64_t curve = scorer.score(first, count, located.data(), by_row.data());
            if (curve >= 0) keep_smallest(infinite, n_quadratics + curve);
            const int64_t found =
                score_quadratics(terms.quadratics, first, count, classes, by_class.data());
            if (found >= 0) keep_smallest(infinite, found);
            for (int k = 0; k < count; ++k) {
                double* row = out + (first + k) * classes;
                for (int c = 0; c < classes; ++c)
                    row[c] = by_row[k * scorer.pad() + c] + by_class[c * kBlock + k];
                normalize(row, classes, output);
            }
        }
    });
    return infinite == none ? -1 : infinite.load();
}

}  // namespace lessnaive
