#include <algorithm>
#include <cmath>
#include <limits>

#include "binning/discretize.hpp"
#include "binning/local_search.hpp"

namespace lessnaive {
namespace {

// Parts are merged in chunks of this many down to an eighth, so that what is merged stays small,
// and in the innermost caches, however many distinct values a column has.
constexpr int64_t kChunkParts = 2048;
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
        ends = improve(column, criterion, std::move(ends));
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
