// What a stream of numbers leaves behind: a summary of a numeric column, by class, of bounded size.
//
// A summary is a set of points (a value and the weight of each class there) whose ranks come near
// to those of the rows. Points come from rows as they are, with ties as one point. They are summed
// up in levels, as in a binary counter: `size` rows make a summary of level 0, and two summaries of
// level l one of level l + 1, thinned out to `size` points if there are more.
//
// The classes share their points. A thinned point stands for neighbouring rows, with the classes
// that these rows have, so that an interval may end a little too early or too late, but the shares
// of the classes in it are those of real rows. With a summary per class the classes would err apart
// from each other, and a search for intervals in which they differ would find just that.
//
// Bound. Let R(t) be the weight of a class at values <= t (or < t), N that of all rows of the class
// with a value, and C the number of classes. Thinning replaces a run of neighbours by one point at
// one of their values, the middle: no more than a share 1 / size of the measure lies to either side
// of it. The measure is one in which all classes weigh the same, hence no more than C N' / size of
// the class, with N' its weight in the summary that is thinned. A threshold t is in one run only,
// and what changes sides is what lies on one side of the middle: R(t) changes by C N' / size at
// most. Adding summaries up adds their errors. Each row is thinned at most once per level, and
// after n rows there are fewer than log2(n / size) + 1 levels:
//
//     |R(t) - estimate| <= (C N / size) log2(n / size)    for n > size, and 0 before.
//
// The errors themselves are added up as they are made: error() is a bound that was measured, and
// mostly much smaller. Nothing is thinned, and all is exact, while there are no more than `size`
// distinct values, or fewer than 2 size rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "binning/sorted_column.hpp"
#include "table/column.hpp"

namespace lessnaive {

// Points in ascending order, and a bound on the error of the ranks of each class.
struct SummaryPoints {
    std::vector<double> values;
    std::vector<double> weights;  // (points, classes)
    std::vector<double> error;    // (classes)

    int64_t count() const { return static_cast<int64_t>(values.size()); }
};

// Rows that are not summed up yet, in the order of their coming.
struct SummaryRows {
    std::vector<double> values;
    std::vector<uint32_t> labels;
    std::vector<double> weights;

    int64_t count() const { return static_cast<int64_t>(values.size()); }
};

// Everything that there is to know about a summary. Weights are in units of `unit`, so that all of
// them can be multiplied at once.
struct SummaryState {
    int64_t classes = 0, size = 0;
    double unit = 1;
    std::vector<double> missing;  // (classes), in units of 1
    SummaryRows rows;
    std::vector<SummaryPoints> levels;  // without points where a level is empty
};

class QuantileSummary {
  public:
    QuantileSummary(int64_t classes, int64_t size);
    explicit QuantileSummary(SummaryState state) : state_(std::move(state)) {}

    const SummaryState& state() const { return state_; }

    // Adds rows, in their order. Values are finite or NaN, which is missing; `weights` may be null.
    void add(const Column& column, const Column& labels, const double* weights, int64_t rows);
    // Adds what another summary of the same classes and size holds.
    void merge(const QuantileSummary& other);
    // Multiplies all weights by a factor, 0 < factor <= 1.
    void decay(double factor);
    // Makes room for new classes: class c becomes class places[c].
    void spread_classes(const std::vector<int64_t>& places, int64_t classes);

    // All of it as no more than `most` points.
    SummaryPoints points(int64_t most) const;
    // The same as rows in ascending order, one per value and class, to find bins in.
    SortedColumn sorted(int64_t most) const;
    // Adds to out, of shape (edges + 1, classes), the weight of the values in each interval
    // edges[b - 1] < x <= edges[b].
    void count(const double* edges, int64_t edge_count, double* out) const;
    // Bound on the error of the ranks of each class.
    std::vector<double> error() const;
    int64_t bytes() const;

  private:
    void add_row(double value, uint32_t label, double weight);
    // Makes a summary of the rows.
    SummaryPoints points_of_rows() const;
    // Adds a summary at a level, and carries.
    void put(SummaryPoints points, size_t level);

    SummaryState state_;
};

}  // namespace lessnaive
