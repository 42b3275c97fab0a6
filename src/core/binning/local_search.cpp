#include "binning/local_search.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/interrupt.hpp"
#include "binning/two_class_cut.hpp"

namespace lessnaive {
namespace {

// A step looks at all intervals. Columns whose rows weigh so much that the best partition has very
// many intervals are given up improving after this many looks.
constexpr int64_t kMostWork = 100'000'000;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

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
        poll();
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
        poll();
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

}  // namespace

std::vector<int64_t> improve(const SortedColumn& column, const Criterion& criterion,
                             std::vector<int64_t> ends) {
    return LocalSearch(column, criterion, std::move(ends)).run();
}

}  // namespace lessnaive
