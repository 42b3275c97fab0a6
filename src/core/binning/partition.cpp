#include "binning/partition.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/interrupt.hpp"
#include "base/simd.hpp"

namespace lessnaive {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Greedy merging goes down to this many parts before they are partitioned exactly.
constexpr int64_t kCoarseParts = 64;
constexpr int64_t kMergesPerPoll = 256;

// Numbers of which the smallest is known at any time; of equal ones the first. Each inner node of a
// binary tree is the smaller of the two below, so that a change is a short way up.
class Tournament {
  public:
    void start(const std::vector<double>& values) {
        leaves_ = 1;
        while (leaves_ < static_cast<int64_t>(values.size())) leaves_ *= 2;
        tree_.assign(2 * leaves_, kInfinity);
        for (size_t i = 0; i < values.size(); ++i) tree_[leaves_ + i] = comparable(values[i]);
        for (int64_t node = leaves_ - 1; node > 0; --node) tree_[node] = smaller_child(node);
    }

    double least() const { return tree_[1]; }

    int64_t winner() const {
        int64_t node = 1;
        while (node < leaves_) node = 2 * node + (tree_[2 * node] != tree_[1]);
        return node - leaves_;
    }

    void set(int64_t place, double value) {
        int64_t node = leaves_ + place;
        tree_[node] = comparable(value);
        for (node /= 2; node > 0; node /= 2) {
            const double smaller = smaller_child(node);
            if (tree_[node] == smaller) break;
            tree_[node] = smaller;
        }
    }

  private:
    static double comparable(double value) { return value < kInfinity ? value : kInfinity; }

    double smaller_child(int64_t node) const {
        const double left = tree_[2 * node], right = tree_[2 * node + 1];
        return right < left ? right : left;
    }

    int64_t leaves_ = 1;
    std::vector<double> tree_;
};

// Bottom-up merging of neighbouring parts. The entries of two neighbours lie side by side, so their
// union is written over them, and nothing is allocated on the way.
class GreedyMerger {
  public:
    GreedyMerger(const Parts& parts, const Criterion& criterion)
        : criterion_(criterion), entries_(parts.entries), size_(parts.size()), left_(size_) {
        begin_.assign(parts.start.begin(), parts.start.end() - 1);
        end_.assign(parts.start.begin() + 1, parts.start.end());
        next_.resize(size_);
        previous_.resize(size_);
        cost_.resize(size_);
        for (int64_t p = 0; p < size_; ++p) {
            next_[p] = static_cast<int32_t>(p + 1);
            previous_[p] = static_cast<int32_t>(p - 1);
            cost_[p] = cost_of(p);
        }
        std::vector<double> deltas;
        for (int64_t p = 0; p + 1 < size_; ++p) deltas.push_back(delta(p));
        deltas_.start(deltas);
    }

    int64_t left() const { return left_; }
    double cheapest() const { return deltas_.least(); }

    // Merges the cheapest pair of neighbours; returns the part whose boundary to its left went.
    int64_t merge_cheapest(double& change) {
        const int64_t a = deltas_.winner(), b = next_[a];
        change = deltas_.least();
        cost_[a] += change + cost_[b];
        unite(a, b);
        next_[a] = next_[b];
        --left_;
        if (next_[b] < size_) deltas_.set(b, kInfinity);
        if (next_[a] < size_) previous_[next_[a]] = static_cast<int32_t>(a);
        deltas_.set(a, next_[a] < size_ ? delta(a) : kInfinity);
        if (previous_[a] >= 0) deltas_.set(previous_[a], delta(previous_[a]));
        return b;
    }

    double total_cost() const {
        double sum = 0;
        for (int64_t p = 0; p < size_; p = next_[p]) sum += cost_[p];
        return sum;
    }

    Merged merged() const {
        Merged out;
        for (int64_t p = 0; p < size_; p = next_[p]) {
            out.parts.entries.insert(out.parts.entries.end(), entries_.begin() + begin_[p],
                                     entries_.begin() + end_[p]);
            out.parts.close();
            out.ends.push_back(next_[p]);
        }
        return out;
    }

  private:
    double cost_of(int64_t p) const {
        double n = 0, sum = 0;
        for (uint32_t e = begin_[p]; e < end_[p]; ++e) {
            n += entries_[e].count;
            sum += criterion_.log_factorial(entries_[e].count);
        }
        return criterion_.interval(n, sum);
    }

    double merged_cost(int64_t a, int64_t b) const {
        double n = 0, sum = 0;
        uint32_t i = begin_[a], j = begin_[b];
        while (i < end_[a] || j < end_[b]) {
            double count;
            if (j == end_[b] || (i < end_[a] && entries_[i].label < entries_[j].label))
                count = entries_[i++].count;
            else if (i == end_[a] || entries_[j].label < entries_[i].label)
                count = entries_[j++].count;
            else
                count = entries_[i++].count + entries_[j++].count;
            n += count;
            sum += criterion_.log_factorial(count);
        }
        return criterion_.interval(n, sum);
    }

    void unite(int64_t a, int64_t b) {
        union_.clear();
        uint32_t i = begin_[a], j = begin_[b];
        while (i < end_[a] || j < end_[b]) {
            if (j == end_[b] || (i < end_[a] && entries_[i].label < entries_[j].label)) {
                union_.push_back(entries_[i++]);
            } else if (i == end_[a] || entries_[j].label < entries_[i].label) {
                union_.push_back(entries_[j++]);
            } else {
                union_.push_back({entries_[i].label, entries_[i].count + entries_[j].count});
                ++i, ++j;
            }
        }
        std::copy(union_.begin(), union_.end(), entries_.begin() + begin_[a]);
        end_[a] = begin_[a] + static_cast<uint32_t>(union_.size());
    }

    // What it costs to merge a part with the next one.
    double delta(int64_t p) const { return merged_cost(p, next_[p]) - cost_[p] - cost_[next_[p]]; }

    const Criterion& criterion_;
    std::vector<ClassCount> entries_, union_;
    int64_t size_, left_;
    std::vector<uint32_t> begin_, end_;
    std::vector<int32_t> next_, previous_;
    std::vector<double> cost_;
    Tournament deltas_;  // of the parts that have a next one
};

// cost[i * parts + j]: the interval of parts i .. j.
std::vector<double> interval_costs(const Parts& parts, const Criterion& criterion) {
    const int64_t size = parts.size();
    std::vector<double> cost(size * size);
    std::vector<double> counts(criterion.classes);
    for (int64_t i = 0; i < size; ++i) {
        poll();
        std::fill(counts.begin(), counts.end(), 0.0);
        double n = 0, sum = 0;
        for (int64_t j = i; j < size; ++j) {
            for (uint32_t e = parts.start[j]; e < parts.start[j + 1]; ++e) {
                double& count = counts[parts.entries[e].label];
                const double more = count + parts.entries[e].count;
                sum += criterion.log_factorial(more) - criterion.log_factorial(count);
                n += parts.entries[e].count;
                count = more;
            }
            cost[i * size + j] = criterion.interval(n, sum);
        }
    }
    return cost;
}

// Where an interval from some part on, after the best sum of what is before it, leads to a better
// sum, best[j] = min(best[j], before + cost[j]), and the part that such an interval begins with.
LESSNAIVE_WIDE void keep_smaller(double before, const double* cost, int64_t size, int64_t first,
                                 double* best, int64_t* begin) {
    for (int64_t j = 0; j < size; ++j) {
        const double sum = before + cost[j];
        const bool better = sum < best[j];
        best[j] = better ? sum : best[j];
        begin[j] = better ? first : begin[j];
    }
}

// The smallest of cost[j] + behind[j].
LESSNAIVE_WIDE double smallest_sum(const double* cost, const double* behind, int64_t size) {
    double least[4] = {kInfinity, kInfinity, kInfinity, kInfinity};
    int64_t j = 0;
    for (; j + 4 <= size; j += 4)
        for (int l = 0; l < 4; ++l) {
            const double sum = cost[j + l] + behind[j + l];
            least[l] = sum < least[l] ? sum : least[l];
        }
    for (; j < size; ++j) least[0] = std::min(least[0], cost[j] + behind[j]);
    return std::min(std::min(least[0], least[1]), std::min(least[2], least[3]));
}

// What partitions cost at the least, by which most of them need no look.
//
// The prior is at least a line through its value for one interval, as far as any number of
// intervals can win. With the slope of that line added to each interval, the best sum of costs from
// some part to the end, whatever the number, is found in one pass.
class Bounds {
  public:
    // `alone` is the cost of a single interval.
    Bounds(const std::vector<double>& cost, int64_t size, const Criterion& criterion, double alone)
        : behind_(size + 1, 0.0) {
        find_behind(cost, size);
        priors_ = {0.0, criterion.prior(1)};
        while (most() < size) {
            const double prior = criterion.prior(most() + 1);
            if (prior + behind_[0] >= alone) break;
            priors_.push_back(prior);
        }
        if (most() == 1) return;
        slope_ = kInfinity;
        for (int64_t number = 2; number <= most(); ++number)
            slope_ =
                std::min(slope_, (priors_[number] - priors_[1]) / static_cast<double>(number - 1));
        find_behind(cost, size);
        least_.assign(most() + 2, kInfinity);
        for (int64_t number = most(); number > 0; --number)
            least_[number] = std::min(priors_[number], least_[number + 1]) - slope_;
    }

    // No larger number of intervals can win.
    int64_t most() const { return static_cast<int64_t>(priors_.size()) - 1; }
    double prior(int64_t number) const { return priors_[number]; }

    // Of all partitions in which interval `number` begins at a part, with so much before it.
    double through(int64_t number, int64_t part, double before) const {
        return before + behind_[part] + least_[number];
    }

    // Of all partitions into so many intervals or more.
    double from(int64_t number) const {
        return through(number, 0, -slope_ * static_cast<double>(number - 1));
    }

  private:
    void find_behind(const std::vector<double>& cost, int64_t size) {
        for (int64_t i = size - 1; i >= 0; --i)
            behind_[i] =
                slope_ + smallest_sum(cost.data() + i * size + i, behind_.data() + i + 1, size - i);
    }

    double slope_ = 0;
    std::vector<double> behind_;          // by the first part, with the slope for each interval
    std::vector<double> priors_, least_;  // by the number of intervals
};

// Exact: for each number of intervals the best sum of their costs, as long as a larger number can
// still win against the best total so far.
Partition dynamic_program(const Parts& parts, const Criterion& criterion) {
    const int64_t size = parts.size();
    const std::vector<double> cost = interval_costs(parts, criterion);
    std::vector<double> now(cost.begin(), cost.begin() + size), before;  // parts 0 .. j, by j
    std::vector<std::vector<int64_t>> cut;  // where the last of I intervals begins
    Partition best{{size}, criterion.prior(1) + now[size - 1]};
    const Bounds bounds(cost, size, criterion, best.cost);
    int64_t best_number = 1;
    for (int64_t number = 2; number <= bounds.most(); ++number) {
        if (bounds.from(number) >= best.cost) break;
        before.swap(now);
        now.assign(size, kInfinity);
        cut.emplace_back(size, 0);
        poll();
        for (int64_t i = number - 1; i < size; ++i)
            if (bounds.through(number, i, before[i - 1]) < best.cost)
                keep_smaller(before[i - 1], cost.data() + i * size + i, size - i, i, now.data() + i,
                             cut.back().data() + i);
        const double total = bounds.prior(number) + now[size - 1];
        if (total < best.cost - criterion.tolerance) {
            best.cost = total;
            best_number = number;
        }
    }
    for (int64_t number = best_number, end = size; number > 1; --number) {
        end = cut[number - 2][end - 1];
        best.ends.push_back(end);
    }
    std::sort(best.ends.begin(), best.ends.end());
    return best;
}

}  // namespace

Merged merge_down(const Parts& parts, const Criterion& criterion, int64_t target, double most) {
    GreedyMerger merger(parts, criterion);
    double change;
    while (merger.left() > target && merger.cheapest() <= most) {
        if (merger.left() % kMergesPerPoll == 0) poll();
        merger.merge_cheapest(change);
    }
    return merger.merged();
}

Partition best_partition(const Parts& parts, const Criterion& criterion, int64_t exact_parts) {
    const int64_t size = parts.size();
    if (size <= exact_parts) return dynamic_program(parts, criterion);

    GreedyMerger merger(parts, criterion);
    double sum = merger.total_cost(), change;
    std::vector<int64_t> gone;  // parts whose left boundary was removed, in that order
    double best_cost = criterion.prior(size) + sum;
    size_t best_gone = 0;
    while (merger.left() > std::min(exact_parts, kCoarseParts)) {
        if (merger.left() % kMergesPerPoll == 0) poll();
        gone.push_back(merger.merge_cheapest(change));
        sum += change;
        const double total = criterion.prior(merger.left()) + sum;
        if (total <= best_cost) {
            best_cost = total;
            best_gone = gone.size();
        }
    }
    const Merged coarse = merger.merged();
    const Partition exact = dynamic_program(coarse.parts, criterion);
    if (exact.cost <= best_cost + criterion.tolerance) {
        Partition out{{}, exact.cost};
        for (int64_t end : exact.ends) out.ends.push_back(coarse.ends[end - 1]);
        return out;
    }
    std::vector<bool> removed(size, false);
    for (size_t k = 0; k < best_gone; ++k) removed[gone[k]] = true;
    Partition out{{}, best_cost};
    for (int64_t p = 1; p < size; ++p)
        if (!removed[p]) out.ends.push_back(p);
    out.ends.push_back(size);
    return out;
}

}  // namespace lessnaive
