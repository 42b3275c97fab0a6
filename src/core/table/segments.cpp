#include "table/segments.hpp"

#include <algorithm>

#include "base/padding.hpp"
#include "base/simd.hpp"
#include "table/parabola.hpp"

namespace lessnaive {
namespace {

constexpr int kBlock = SegmentedLines::kBlock;

LESSNAIVE_WIDE void distances(const double* x, const double* anchors, int64_t absent, int count,
                              int64_t* segment, double* away) {
    for (int k = 0; k < count; ++k) {
        segment[k] = x[k] == x[k] ? segment[k] : absent;
        const double gap = distance(x[k], anchors[segment[k]]);
        away[k] = x[k] == x[k] ? gap : 0.0;
    }
}

template <int kPad>
LESSNAIVE_WIDE void add_lines(const double* lines, const int64_t* segment, const double* away,
                              int count, int pad, double* scores) {
    const int width = kPad > 0 ? kPad : pad;
    for (int k = 0; k < count; ++k) {
        const double* offset = lines + segment[k] * 2 * width;
        const double* slope = offset + width;
        double* sum = scores + k * width;
        for (int c = 0; c < width; ++c) sum[c] += offset[c] + rise(slope[c], away[k]);
    }
}

}  // namespace

// Halving for all numbers of a block at a time, so that
// nothing waits for a comparison and nothing depends on guessing its outcome.
LESSNAIVE_WIDE void count_below(const double* edges, int64_t edge_count, const double* x, int count,
                                int64_t* below) {
    for (int k = 0; k < count; ++k) below[k] = 0;
    int64_t left = edge_count;
    for (; left > 1; left -= left / 2) {
        const int64_t half = left / 2;
        for (int k = 0; k < count; ++k)
            below[k] += edges[below[k] + half - 1] < x[k] ? half : int64_t{0};
    }
    if (left == 1)
        for (int k = 0; k < count; ++k) below[k] += edges[below[k]] < x[k] ? 1 : 0;
}

SegmentedLines::SegmentedLines(const Piecewise& curve, int classes, int pad)
    : classes_(classes),
      pad_(pad),
      edges_(curve.edges, curve.edges + curve.edge_count),
      anchors_(curve.edge_count + 2, 0.0),
      lines_((curve.edge_count + 2) * 2 * pad, 0.0) {
    if (!edges_.empty()) {
        anchors_[0] = edges_[0];
        std::copy(edges_.begin(), edges_.end(), anchors_.begin() + 1);
    }
    double* line = lines_.data();
    for (int64_t k = 0; k <= curve.edge_count; ++k, line += 2 * pad) {
        std::copy_n(curve.offset + k * classes, classes, line);
        std::copy_n(curve.slope + k * classes, classes, line + pad);
    }
    std::copy_n(curve.missing, classes, line);
}

void SegmentedLines::locate(const double* x, int count, int64_t* segment, double* away) const {
    count_below(edges_.data(), static_cast<int64_t>(edges_.size()), x, count, segment);
    const int64_t absent = static_cast<int64_t>(edges_.size()) + 1;
    distances(x, anchors_.data(), absent, count, segment, away);
}

void SegmentedLines::add_by_row(const int64_t* segment, const double* away, int count,
                                double* scores) const {
    with_padding(pad_, [&](auto width) {
        add_lines<width()>(lines_.data(), segment, away, count, pad_, scores);
    });
}

void SegmentedLines::add_by_class(const double* x, int count, int64_t stride, double* sums) const {
    int64_t segment[kBlock];
    double away[kBlock];
    locate(x, count, segment, away);
    for (int k = 0; k < count; ++k) {
        const double* offset = lines_.data() + segment[k] * 2 * pad_;
        const double* slope = offset + pad_;
        for (int c = 0; c < classes_; ++c)
            sums[c * stride + k] += offset[c] + rise(slope[c], away[k]);
    }
}

void SegmentedLines::fill_by_class(const double* x, int count, int64_t stride, double* out) const {
    for (int c = 0; c < classes_; ++c) std::fill_n(out + c * stride, count, 0.0);
    add_by_class(x, count, stride, out);
}

int64_t SegmentedLines::bytes() const {
    return static_cast<int64_t>(sizeof(double) * (edges_.size() + anchors_.size() + lines_.size()));
}

}  // namespace lessnaive
