// The best place to cut rows of two classes in two, without looking at most of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "binning/sorted_column.hpp"

namespace lessnaive {

struct TwoClassCut {
    int64_t row = -1;            // the cut is before this row; -1: all rows have one value
    double zeros = 0, ones = 0;  // the classes of the rows before it
};

// Finds the first row before which a cut of the rows `begin` .. `end` costs least; costs nearer
// than `tolerance` are equal. Rows count 1 each, and are of class 0 or 1. `cost(zeros, ones)` of an
// interval must be concave: so is then the sum of two intervals as a function of the counts on the
// left, which in a block of rows lie in a rectangle, and at one of its four corners it is smallest.
// Blocks whose corners cost more than some cut elsewhere are passed over.
template <class Cost>
class TwoClassSearch {
  public:
    TwoClassSearch(const SortedColumn& column, int64_t begin, int64_t end, const Cost& cost,
                   double tolerance)
        : column_(column), begin_(begin), end_(end), cost_(cost), tolerance_(tolerance) {
        ones_ = ones_in(begin, end);
        zeros_ = static_cast<double>(end - begin) - ones_;
    }

    double zeros() const { return zeros_; }
    double ones() const { return ones_; }

    TwoClassCut best() {
        bound_blocks();
        const double enough = known_ + tolerance_;
        TwoClassCut cut;
        double least = kInfinity;
        for (size_t b = 0; b < blocks_.size(); ++b)
            if (blocks_[b].bound <= enough) look_into(b, cut, least);
        return cut;
    }

  private:
    static constexpr int64_t kBlockRows = 64;
    static constexpr double kInfinity = std::numeric_limits<double>::infinity();

    struct Block {
        double zeros, ones;  // before the block
        double bound;
    };

    double ones_in(int64_t first, int64_t end) const {
        uint32_t ones = 0;
        for (int64_t row = first; row < end; ++row) ones += column_.labels[row];
        return ones;
    }

    double cut_cost(double zeros, double ones) const {
        return cost_(zeros, ones) + cost_(zeros_ - zeros, ones_ - ones);
    }

    bool can_cut(int64_t row) const {
        return row < end_ && column_.values[row - 1] != column_.values[row];
    }

    void bound_blocks() {
        double zeros = 0, ones = 0, here = cut_cost(0, 0);
        for (int64_t first = begin_; first < end_; first += kBlockRows) {
            const int64_t end = std::min(first + kBlockRows, end_);
            const double more_ones = ones + ones_in(first, end);
            const double more_zeros = zeros + static_cast<double>(end - first) - (more_ones - ones);
            const double there = cut_cost(more_zeros, more_ones);
            const double corners = std::min(cut_cost(zeros, more_ones), cut_cost(more_zeros, ones));
            blocks_.push_back({zeros, ones, std::min({here, there, corners})});
            if (can_cut(end)) known_ = std::min(known_, there);
            zeros = more_zeros, ones = more_ones, here = there;
        }
    }

    void look_into(size_t b, TwoClassCut& cut, double& least) const {
        const int64_t first = begin_ + static_cast<int64_t>(b) * kBlockRows;
        const int64_t end = std::min(first + kBlockRows, end_);
        double zeros = blocks_[b].zeros, ones = blocks_[b].ones;
        for (int64_t row = first; row < end; ++row) {
            const double one = column_.labels[row];
            ones += one, zeros += 1 - one;
            if (!can_cut(row + 1)) continue;
            const double cost = cut_cost(zeros, ones);
            if (cost < least - tolerance_) least = cost, cut = {row + 1, zeros, ones};
        }
    }

    const SortedColumn& column_;
    int64_t begin_, end_;
    const Cost& cost_;
    double tolerance_, zeros_, ones_;
    double known_ = kInfinity;  // the cost of some cut
    std::vector<Block> blocks_;
};

}  // namespace lessnaive
