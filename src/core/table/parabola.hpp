// What a numeric column adds to the score of one class.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/simd.hpp"

namespace lessnaive {

// Half a squared distance larger than this is cut off, so that scores stay finite in sums.
constexpr double kFarthest = 1e200;

struct Parabola {
    double offset, center, factor, missing, weight;

    // `parameters` has shape (5, classes): offset, center, scale, missing, weight.
    Parabola(const double* parameters, int classes, int c)
        : offset(parameters[c]),
          center(parameters[classes + c]),
          factor(std::sqrt(0.5) / parameters[2 * classes + c]),
          missing(parameters[3 * classes + c]),
          weight(parameters[4 * classes + c]) {}

    // The score at a value that is not missing.
    double at(double x) const {
        const double z = (x - center) * factor;
        return offset - weight * std::min(kFarthest, z * z);
    }
};

// x - anchor. A distance that is too large for a number is the largest one, so that a slope of 0
// stays flat.
LESSNAIVE_INLINE double distance(double x, double anchor) {
    constexpr double kLargest = std::numeric_limits<double>::max();
    return std::max(-kLargest, std::min(kLargest, x - anchor));
}

// How much a line rises on its way.
LESSNAIVE_INLINE double rise(double slope, double away) {
    return std::max(-kFarthest, std::min(kFarthest, slope * away));
}

}  // namespace lessnaive
