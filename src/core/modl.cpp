#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "discretize.hpp"
#include "two_class_cut.hpp"

namespace lessnaive {
namespace {

// Parts are merged in chunks of this many down to an eighth, so that what is merged stays small,
// and in the innermost caches, however many distinct values a column has.
constexpr int64_t kChunkParts = 2048;
// A step looks at all intervals. Columns whose rows weigh so much that the best partition has very
// many intervals are given up improving after this many looks.
constexpr int64_t kMostWork = 100'000'000;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The optimum never cuts within a run of values that all belong to one class: the cost is concave
// in the position of such a cut. So a run of pure values of one class is one part.
class RunCollector {
  public:
    RunCollector(const SortedColumn& column, const Criterion& criterion)
        : column_(column), criterion_(criterion), counts_(criterion.classes, 0.0) {}

    void collect() {
        const int64_t size = column_.size();
        for (int64_t first = 0; first < size;) {
            int64_t end = first;
            touched_.clear();
            for (; end < size && column_.values[end] == column_.values[first]; ++end) {
                double& count = counts_[column_.labels[end]];
                if (count == 0) touched_.push_back(column_.labels[end]);
                count += column_.weight(end);
            }
            add_value(end);
            first = end;
        }
        flush_chunk();
    }

    Parts parts;
    std::vector<int64_t> rows;  // end of each part, as a number of rows
    bool reduced = false;       // whether parts are already merged runs

  private:
    void add_value(int64_t end_row) {
        const bool pure = touched_.size() == 1;
        const bool same =
            pure && last_pure_ && chunk_.size() > 0 && chunk_.entries.back().label == touched_[0];
        if (same) {
            chunk_.entries.back().count += counts_[touched_[0]];
            chunk_rows_.back() = end_row;
        } else {
            if (static_cast<int64_t>(chunk_.size()) == kChunkParts) reduce_chunk();
            std::sort(touched_.begin(), touched_.end());
            for (uint32_t label : touched_) chunk_.entries.push_back({label, counts_[label]});
            chunk_.close();
            chunk_rows_.push_back(end_row);
        }
        for (uint32_t label : touched_) counts_[label] = 0;
        last_pure_ = pure;
    }

    void reduce_chunk() {
        reduced = true;
        // One interval less never saves more than the first cut costs.
        const double most = criterion_.prior(2) - criterion_.prior(1);
        const Merged merged = merge_down(chunk_, criterion_, kChunkParts / 8, most);
        std::vector<int64_t> ends;
        for (int64_t end : merged.ends) ends.push_back(chunk_rows_[end - 1]);
        chunk_ = merged.parts;
        chunk_rows_ = std::move(ends);
        flush_chunk();
    }

    void flush_chunk() {
        for (size_t p = 0; p < chunk_.size(); ++p) {
            parts.entries.insert(parts.entries.end(), chunk_.entries.begin() + chunk_.start[p],
                                 chunk_.entries.begin() + chunk_.start[p + 1]);
            parts.close();
        }
        rows.insert(rows.end(), chunk_rows_.begin(), chunk_rows_.end());
        chunk_ = Parts();
        chunk_rows_.clear();
    }

    const SortedColumn& column_;
    const Criterion& criterion_;
    std::vector<double> counts_;
    std::vector<uint32_t> touched_;
    Parts chunk_;
    std::vector<int64_t> chunk_rows_;
    bool last_pure_ = false;
};

double total_weight(const SortedColumn& column) {
    if (column.weights.empty()) return static_cast<double>(column.size());
    double sum = 0;
    for (double weight : column.weights) sum += weight;
    return sum;
}

// Local search over the rows themselves: split, merge, move a boundary, merge here and split there;
// the best of all moves at a time, until none helps.
class LocalSearch {
  public:
    LocalSearch(const SortedColumn& column, const Criterion& criterion, std::vector<int64_t> ends)
        : column_(column), criterion_(criterion), ends_(std::move(ends)) {
        left_.resize(criterion.classes);
        right_.resize(criterion.classes);
        for (size_t i = 0; i < ends_.size(); ++i) splits_.push_back(best_cut(i, i));
        for (size_t i = 0; i + 1 < ends_.size(); ++i) pairs_.push_back(best_cut(i, i + 1));
    }

    std::vector<int64_t> run() {
        for (int64_t work = 0; work < kMostWork && step(); work += number()) {
        }
        return ends_;
    }

  private:
    struct Cut {
        int64_t row = -1;          // the best place to cut these rows in two
        double whole = 0;          // cost of the rows as one interval
        double parts = kInfinity;  // cost of the two intervals
    };

    int64_t begin(size_t i) const { return i == 0 ? 0 : ends_[i - 1]; }
    int64_t number() const { return static_cast<int64_t>(ends_.size()); }

    Cut best_cut(size_t first, size_t last) {
        const int64_t begin_row = begin(first), end_row = ends_[last];
        const bool plain = criterion_.classes == 2 && column_.weights.empty();
        return plain ? best_of_two(begin_row, end_row) : best_of_many(begin_row, end_row);
    }

    Cut best_of_two(int64_t begin_row, int64_t end_row) const {
        const auto cost = [&](double zeros, double ones) {
            const double sum = criterion_.log_factorial(zeros) + criterion_.log_factorial(ones);
            return criterion_.interval(zeros + ones, sum);
        };
        TwoClassSearch search(column_, begin_row, end_row, cost, criterion_.tolerance);
        const TwoClassCut best = search.best();
        Cut cut{best.row, cost(search.zeros(), search.ones())};
        if (best.row >= 0)
            cut.parts = cost(best.zeros, best.ones) +
                        cost(search.zeros() - best.zeros, search.ones() - best.ones);
        return cut;
    }

    Cut best_of_many(int64_t begin_row, int64_t end_row) {
        std::fill(left_.begin(), left_.end(), 0.0);
        std::fill(right_.begin(), right_.end(), 0.0);
        double left = 0, right = 0, left_sum = 0, right_sum = 0;
        for (int64_t row = begin_row; row < end_row; ++row) {
            right_[column_.labels[row]] += column_.weight(row);
            right += column_.weight(row);
        }
        for (double count : right_) right_sum += criterion_.log_factorial(count);
        Cut cut;
        cut.whole = criterion_.interval(right, right_sum);
        for (int64_t row = begin_row; row + 1 < end_row; ++row) {
            const double weight = column_.weight(row);
            double &l = left_[column_.labels[row]], &r = right_[column_.labels[row]];
            left_sum += criterion_.log_factorial(l + weight) - criterion_.log_factorial(l);
            right_sum +=
                criterion_.log_factorial(std::max(r - weight, 0.0)) - criterion_.log_factorial(r);
            l += weight, r = std::max(r - weight, 0.0), left += weight;
            right = std::max(right - weight, 0.0);
            if (column_.values[row] == column_.values[row + 1]) continue;
            const double parts =
                criterion_.interval(left, left_sum) + criterion_.interval(right, right_sum);
            if (parts < cut.parts - criterion_.tolerance) cut.parts = parts, cut.row = row + 1;
        }
        if (cut.row >= 0) cut.parts = exact_cost(begin_row, cut.row) + exact_cost(cut.row, end_row);
        return cut;
    }

    // Without the rounding errors that a long sweep collects.
    double exact_cost(int64_t begin_row, int64_t end_row) {
        std::fill(left_.begin(), left_.end(), 0.0);
        double n = 0, sum = 0;
        for (int64_t row = begin_row; row < end_row; ++row) {
            left_[column_.labels[row]] += column_.weight(row);
            n += column_.weight(row);
        }
        for (double count : left_) sum += criterion_.log_factorial(count);
        return criterion_.interval(n, sum);
    }

    double merge_change(size_t i) const {
        return pairs_[i].whole - splits_[i].whole - splits_[i + 1].whole;
    }
    double move_change(size_t i) const {
        return pairs_[i].parts - splits_[i].whole - splits_[i + 1].whole;
    }
    double split_change(size_t i) const { return splits_[i].parts - splits_[i].whole; }

    bool step() {
        const int64_t n = number();
        const double up = criterion_.prior(n + 1) - criterion_.prior(n);
        const double down = n > 1 ? criterion_.prior(n - 1) - criterion_.prior(n) : 0;
        double best = -criterion_.tolerance;
        enum { none, split, merge, move, merge_split } kind = none;
        size_t at = 0, also = 0;
        const auto consider = [&](double change, auto what, size_t i, size_t k) {
            if (change < best) best = change, kind = what, at = i, also = k;
        };
        // One of the three best splits is at neither of the two intervals that a merge joins.
        std::array<size_t, 3> best_splits{};
        size_t kept = 0;
        for (size_t i = 0; i < splits_.size(); ++i) {
            consider(split_change(i) + up, split, i, 0);
            size_t place = kept < 3 ? kept++ : 3;
            for (; place > 0 && split_change(i) < split_change(best_splits[place - 1]); --place)
                if (place < 3) best_splits[place] = best_splits[place - 1];
            if (place < 3) best_splits[place] = i;
        }
        for (size_t i = 0; i < pairs_.size(); ++i) {
            consider(merge_change(i) + down, merge, i, 0);
            consider(move_change(i), move, i, 0);
            for (size_t k = 0; k < kept; ++k)
                if (best_splits[k] != i && best_splits[k] != i + 1)
                    consider(merge_change(i) + split_change(best_splits[k]), merge_split, i,
                             best_splits[k]);
        }
        switch (kind) {
            case none:
                return false;
            case split:
                do_split(at);
                break;
            case merge:
                do_merge(at);
                break;
            case move:
                ends_[at] = pairs_[at].row;
                refresh(at, at + 1);
                break;
            case merge_split:
                do_split(also);
                do_merge(also < at ? at + 1 : at);
                break;
        }
        return true;
    }

    void do_split(size_t i) {
        ends_.insert(ends_.begin() + i, splits_[i].row);
        splits_.insert(splits_.begin() + i, Cut());
        pairs_.insert(pairs_.begin() + i, Cut());
        refresh(i, i + 1);
    }

    void do_merge(size_t i) {
        ends_.erase(ends_.begin() + i);
        splits_.erase(splits_.begin() + i);
        pairs_.erase(pairs_.begin() + i);
        refresh(i, i);
    }

    // Intervals first .. last have changed: look at them and at the pairs that they are in again.
    void refresh(size_t first, size_t last) {
        for (size_t i = first; i <= last; ++i) splits_[i] = best_cut(i, i);
        for (size_t i = first == 0 ? 0 : first - 1; i <= last && i < pairs_.size(); ++i)
            pairs_[i] = best_cut(i, i + 1);
    }

    const SortedColumn& column_;
    const Criterion& criterion_;
    std::vector<int64_t> ends_;
    std::vector<double> left_, right_;
    std::vector<Cut> splits_, pairs_;
};

// The bins that follow from where the intervals end, and what they cost.
Bins describe(const SortedColumn& column, const Criterion& criterion,
              const std::vector<int64_t>& ends, double weight) {
    Bins bins;
    const int classes = criterion.classes;
    bins.counts.assign(ends.size() * classes, 0.0);
    std::vector<double> all(classes, 0.0);
    int64_t row = 0;
    double likelihood = 0, prior = criterion.prior(static_cast<int64_t>(ends.size()));
    for (size_t i = 0; i < ends.size(); ++i) {
        double* counts = bins.counts.data() + i * classes;
        for (; row < ends[i]; ++row) counts[column.labels[row]] += column.weight(row);
        double n = 0, sum = 0;
        for (int c = 0; c < classes; ++c) {
            n += counts[c];
            all[c] += counts[c];
            sum += criterion.log_factorial(counts[c]);
        }
        likelihood += criterion.log_factorial(n) - sum;
        prior += criterion.interval(n, criterion.log_factorial(n));
        if (i + 1 < ends.size()) {
            const double above = column.values[row];
            bins.edges.push_back(above == kInfinity ? above
                                                    : cut_between(column.values[row - 1], above));
        }
    }
    bins.prior_cost = prior + std::log(weight);
    bins.cost = bins.null_cost = bins.prior_cost + likelihood;
    if (ends.size() == 1) return bins;
    double sum = 0;
    for (double count : all) sum += criterion.log_factorial(count);
    bins.null_cost = std::log(weight) + criterion.prior(1) + criterion.interval(weight, sum);
    return bins;
}

Bins search(const SortedColumn& column, int classes, const LogFactorial& log_factorial,
            int64_t exact_parts) {
    if (column.size() == 0) return {{}, std::vector<double>(classes, 0.0)};
    const double weight = total_weight(column);
    const auto prior = [&](int64_t intervals) {
        // log C(n + I - 1, I - 1)
        const double i = static_cast<double>(intervals);
        return log_gamma(weight + i) - log_gamma(weight + 1) - log_gamma(i);
    };
    const double tolerance = rounding_in(log_factorial(weight));
    const Criterion criterion{log_factorial, classes, prior, tolerance};
    RunCollector runs(column, criterion);
    runs.collect();
    const Partition partition = best_partition(runs.parts, criterion, exact_parts);
    std::vector<int64_t> ends;
    for (int64_t end : partition.ends) ends.push_back(runs.rows[end - 1]);
    if (runs.reduced || static_cast<int64_t>(runs.parts.size()) > exact_parts)
        ends = LocalSearch(column, criterion, std::move(ends)).run();
    return describe(column, criterion, ends, weight);
}

// Puts the missing rows after the others, as rows of the value inf.
void add_missing_above(SortedColumn& column) {
    const bool weighted = !column.weights.empty();
    for (size_t c = 0; c < column.missing.size(); ++c) {
        const int64_t rows = weighted ? column.missing[c] > 0 : std::llround(column.missing[c]);
        column.values.insert(column.values.end(), rows, kInfinity);
        column.labels.insert(column.labels.end(), rows, static_cast<uint32_t>(c));
        if (weighted) column.weights.insert(column.weights.end(), rows, column.missing[c]);
    }
}

// Moves them from there to before the others, as rows of the value -inf.
void move_missing_below(SortedColumn& column, int64_t present) {
    std::fill(column.values.begin() + present, column.values.end(), -kInfinity);
    const auto rotate = [&](auto& rows) {
        if (!rows.empty()) std::rotate(rows.begin(), rows.begin() + present, rows.end());
    };
    rotate(column.values);
    rotate(column.labels);
    rotate(column.weights);
}

}  // namespace

Bins discretize_modl(SortedColumn column, int classes, const LogFactorial& log_factorial,
                     bool use_missing, int64_t exact_parts) {
    double missing = 0;
    for (double weight : column.missing) missing += weight;
    if (!use_missing || missing == 0) return search(column, classes, log_factorial, exact_parts);
    const int64_t present = column.size();
    add_missing_above(column);
    Bins above = search(column, classes, log_factorial, exact_parts);
    above.missing_bin = static_cast<int64_t>(above.edges.size());
    move_missing_below(column, present);
    Bins below = search(column, classes, log_factorial, exact_parts);
    below.missing_bin = 0;
    return below.cost < above.cost ? below : above;
}

}  // namespace lessnaive
