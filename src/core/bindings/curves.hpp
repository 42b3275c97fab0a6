// Piecewise-linear curves, which several kernels read.
#pragma once

#include "bindings/checks.hpp"
#include "bindings/overlap.hpp"
#include "table/segments.hpp"

namespace lessnaive {

// Numbers, and the edges, offsets, slopes and missing scores of a piecewise-linear curve.
using PiecewiseTuple = std::tuple<Array, Vector, Matrix, Matrix, Vector>;

inline Piecewise piecewise_of(const PiecewiseTuple& curve, int64_t rows, int classes,
                              Memory& used) {
    const auto& [numbers, edges, offset, slope, missing] = curve;
    const int64_t segments = length(edges) + 1;
    require(has_shape(offset, {segments, classes}) && has_shape(slope, {segments, classes}) &&
                length(missing) == classes,
            "a curve has the wrong shape");
    require(are_ascending(edges), "edges must be ascending numbers");
    used.read(numbers).read(edges).read(offset).read(slope).read(missing);
    return {column_of(numbers, rows),
            edges.data(),
            length(edges),
            offset.data(),
            slope.data(),
            missing.data()};
}

}  // namespace lessnaive
