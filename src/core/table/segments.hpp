// Piecewise-linear curves with jumps: which segment a number is in, and the line there.
#pragma once

#include <cstdint>
#include <vector>

#include "table/column.hpp"

namespace lessnaive {

// s(x, c) = offset[k][c] + slope[k][c] (x - anchor[k]) in segment k, which holds
// edges[k - 1] < x <= edges[k], or missing[c] where x has no value. The anchor is edges[k - 1],
// that of the first segment edges[0], or 0 without edges. `offset` and `slope` have shape
// (edge_count + 1, classes).
struct Piecewise {
    Column column;
    const double* edges;
    int64_t edge_count;
    const double* offset;
    const double* slope;
    const double* missing;
};

// The number of edges below each of `count` numbers; none where there is no number.
void count_below(const double* edges, int64_t edge_count, const double* x, int count,
                 int64_t* below);

// Such a curve, prepared for many blocks of rows. It points to nothing outside of itself.
class SegmentedLines {
  public:
    static constexpr int kBlock = 256;

    // Rows of lines have the length `pad`, of which the first `classes` count.
    SegmentedLines(const Piecewise& curve, int classes, int pad);

    // Segments of numbers, the place after the last one where there is no value, and how far they
    // are from the anchor.
    void locate(const double* x, int count, int64_t* segment, double* away) const;
    // Adds to scores (count, pad) what belongs to numbers that are located.
    void add_by_row(const int64_t* segment, const double* away, int count, double* scores) const;
    // Fills out (classes, stride).
    void fill_by_class(const double* x, int count, int64_t stride, double* out) const;
    // Adds to sums (classes, stride).
    void add_by_class(const double* x, int count, int64_t stride, double* sums) const;
    int64_t bytes() const;

  private:
    int classes_, pad_;
    std::vector<double> edges_, anchors_;
    std::vector<double> lines_;  // (edge_count + 2, 2, pad): offset and slope; the last: missing
};

}  // namespace lessnaive
