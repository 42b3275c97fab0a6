#include "linear/linear_path.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/interrupt.hpp"
#include "base/simd.hpp"

namespace lessnaive {
namespace {

// Share of the predicted decrease that a step must bring.
constexpr double kSufficient = 1e-4;
// The curvature is looked at again when a step leaves more than this of what there was to gain.
constexpr double kSlow = 0.1;
// And when the loss has fallen to this share: the surer the model, the less curvature there is, and
// with too much of it the minimum seems nearer than it is.
constexpr double kOld = 0.7;
// A share of the objective that is lost in its rounding: below it only the slopes tell more.
constexpr double kRounding = 1e-13;
// A step that promises less than this share of the objective may fail by its rounding.
constexpr double kInvisible = 1e-7;
constexpr double kShortest = 1e-10;
// Rounds of the inner solver at the most, and what it may leave of the tolerance.
constexpr int kMostRounds = 50;
constexpr double kInner = 1e-3;

double dot(const std::vector<double>& a, const std::vector<double>& b) {
    double out = 0;
    for (size_t i = 0; i < a.size(); ++i) out += a[i] * b[i];
    return out;
}

std::vector<double> difference(const std::vector<double>& a, const std::vector<double>& b) {
    std::vector<double> out(a.size());
    for (size_t i = 0; i < a.size(); ++i) out[i] = a[i] - b[i];
    return out;
}

LESSNAIVE_WIDE void add_multiple(const double* x, double factor, int64_t size, double* out) {
    for (int64_t i = 0; i < size; ++i) out[i] += factor * x[i];
}

// row += up * u - down * v
LESSNAIVE_WIDE void add_two(const double* u, double up, const double* v, double down, int64_t size,
                            double* row) {
    for (int64_t i = 0; i < size; ++i) row[i] += up * u[i] - down * v[i];
}

}  // namespace

void SparseMatrix::multiply(const double* x, double* out) const {
    for (int64_t r = 0; r < rows; ++r) {
        out[r] = 0;
        for (int64_t e = starts[r]; e < starts[r + 1]; ++e) out[r] += values[e] * x[places[e]];
    }
}

void SparseMatrix::multiply_transposed(const double* x, double* out) const {
    std::fill_n(out, columns, 0.0);
    for (int64_t r = 0; r < rows; ++r)
        for (int64_t e = starts[r]; e < starts[r + 1]; ++e) out[places[e]] += values[e] * x[r];
}

void SparseMatrix::congruence(const double* m, int64_t stride, double* out,
                              int64_t out_stride) const {
    std::vector<double> left(columns * rows, 0.0);  // A' M
    for (int64_t r = 0; r < rows; ++r) {
        poll();
        for (int64_t e = starts[r]; e < starts[r + 1]; ++e)
            add_multiple(m + r * stride, values[e], rows, left.data() + places[e] * rows);
    }
    for (int64_t c = 0; c < columns; ++c) {
        poll();
        multiply_transposed(left.data() + c * rows, out + c * out_stride);
    }
}

LinearPath::LinearPath(const LinearRows& rows, SparseMatrix coordinates, std::vector<double> target,
                       std::vector<double> factor, std::vector<double> start)
    : rows_(rows),
      coordinates_(std::move(coordinates)),
      target_(std::move(target)),
      factor_(std::move(factor)),
      zeros_(target_.size(), 0.0),
      lowest_(target_.size(), -HUGE_VAL),
      highest_(target_.size(), HUGE_VAL),
      point_(look(std::move(start))),
      first_loss_(point_.loss),
      hessian_(target_.size() * target_.size()) {
    look_at_curvature();
}

LinearPath::Found LinearPath::minimize(double l1, double l2, double tolerance, int max_passes) {
    const Penalty penalty{l1, l2};
    const bool held = l1 > 0 || l2 > 0;
    double before = HUGE_VAL;  // what there was to gain before the last step
    bool from_exact = false;   // whether that step was made with the exact curvature
    int passes = 0;
    for (;;) {
        const double now = cost(penalty, point_.weights);
        const double scale = held ? point_.loss + now : first_loss_;
        const double enough = tolerance * scale;
        QuadraticSolution goal = minimum_of_model(penalty, enough);
        const std::vector<double> move = difference(goal.x, point_.weights);
        // The slope of the model is linear on the way from here to its minimum.
        const double gain = now - cost(penalty, goal.x) -
                            0.5 * (dot(point_.gradient, move) + dot(goal.slope, move));
        const bool old = point_.loss < kOld * loss_at_curvature_;
        const bool slow = gain > kSlow * before;
        if (gain <= enough && (exact_ || !old)) return {std::move(goal.x), passes, true};
        if (slow && from_exact && gain <= kRounding * scale)
            return {std::move(goal.x), passes, true};
        if (passes >= max_passes) return {point_.weights, passes, false};
        if ((slow || old) && !exact_) {
            look_at_curvature();
            ++passes;
            before = HUGE_VAL;
            continue;
        }
        from_exact = exact_;
        const int steps = walk(penalty, goal.x);
        // Nothing to be gained that the objective would show, or else a step that failed.
        if (steps == 0) return {point_.weights, passes, gain <= kInvisible * scale};
        passes += steps;
        before = gain;
    }
}

int LinearPath::walk(const Penalty& penalty, const std::vector<double>& goal) {
    const std::vector<double> move = difference(goal, point_.weights);
    const double now = cost(penalty, point_.weights);
    const double slope = dot(point_.gradient, move) + cost(penalty, goal) - now;
    const double rounding = kRounding * (point_.loss + now);
    int passes = 0;
    for (double length = 1.0; length > kShortest; length *= 0.5) {
        std::vector<double> weights = point_.weights;
        for (size_t k = 0; k < move.size(); ++k) weights[k] += length * move[k];
        Point next = look(length == 1.0 ? goal : std::move(weights));
        ++passes;
        const double fall = (point_.loss - next.loss) + (now - cost(penalty, next.weights));
        if (fall >= -kSufficient * length * slope - rounding) {
            learn_curvature(next);
            point_ = std::move(next);
            exact_ = false;
            return passes;
        }
        if (!exact_) {  // then the model is to blame, not the length
            look_at_curvature();
            return passes + 1;
        }
    }
    return 0;
}

QuadraticSolution LinearPath::minimum_of_model(const Penalty& penalty, double enough) const {
    double trace = 0;
    for (int64_t k = 0; k < size(); ++k) trace += hessian_[k * size() + k];
    const QuadraticProgram program{
        size(),        hessian_.data(), point_.gradient.data(), point_.weights.data(),
        zeros_.data(), lowest_.data(),  highest_.data(),        factor_.data(),
        penalty.l1,    penalty.l2};
    // A slope of r along a curvature of h is r^2 / 2h above the minimum.
    const double count = static_cast<double>(size());
    const double tolerance = kInner * std::sqrt(2 * enough * trace) / count;
    return solve(program, tolerance, kMostRounds);
}

LinearPath::Point LinearPath::look(std::vector<double> weights) const {
    const std::vector<double> at = coefficients(weights);
    std::vector<double> by_coefficient(at.size()), gradient(weights.size());
    const double loss = rows_.loss(at.data(), by_coefficient.data());
    for (int o = 0; o < rows_.outputs(); ++o)
        coordinates_.multiply_transposed(by_coefficient.data() + o * coordinates_.rows,
                                         gradient.data() + o * coordinates_.columns);
    return {std::move(weights), std::move(gradient), loss};
}

void LinearPath::look_at_curvature() {
    const int64_t inner = rows_.outputs() * coordinates_.rows;
    std::vector<double> by_coefficient(inner * inner);
    rows_.curvature(coefficients(point_.weights).data(), rows_.rows(), by_coefficient.data());
    for (int o = 0; o < rows_.outputs(); ++o)
        for (int u = 0; u < rows_.outputs(); ++u)
            coordinates_.congruence(
                by_coefficient.data() + o * coordinates_.rows * inner + u * coordinates_.rows,
                inner,
                hessian_.data() + o * coordinates_.columns * size() + u * coordinates_.columns,
                size());
    hold_what_is_shared();
    exact_ = true;
    loss_at_curvature_ = point_.loss;
}

// What all outputs share changes no probability. Where no penalty settles it either, curvature is
// put there, or rounding would lead far away along it.
void LinearPath::hold_what_is_shared() {
    if (rows_.outputs() == 1) return;
    const int64_t columns = coordinates_.columns;
    for (int64_t j = 0; j < columns; ++j) {
        if (factor_[j] > 0) continue;
        const double curvature = hessian_[j * size() + j];
        for (int o = 0; o < rows_.outputs(); ++o)
            for (int u = 0; u < rows_.outputs(); ++u)
                hessian_[(o * columns + j) * size() + u * columns + j] += curvature;
    }
}

void LinearPath::learn_curvature(const Point& next) {
    const std::vector<double> move = difference(next.weights, point_.weights);
    std::vector<double> change = difference(next.gradient, point_.gradient);
    std::vector<double> expected(move.size(), 0.0);
    for (int64_t k = 0; k < size(); ++k)
        if (move[k] != 0)
            add_multiple(hessian_.data() + k * size(), move[k], size(), expected.data());
    const double found = dot(move, change), thought = dot(move, expected);
    if (!(found > 0 && thought > 0)) return;
    const double up = 1 / std::sqrt(found), down = 1 / std::sqrt(thought);
    for (size_t k = 0; k < move.size(); ++k) {
        change[k] *= up;
        expected[k] *= down;
    }
    poll();
    for (int64_t k = 0; k < size(); ++k)
        add_two(change.data(), change[k], expected.data(), expected[k], size(),
                hessian_.data() + k * size());
}

double LinearPath::cost(const Penalty& penalty, const std::vector<double>& weights) const {
    double out = 0;
    for (size_t k = 0; k < weights.size(); ++k)
        out += factor_[k] *
               (penalty.l1 * std::fabs(weights[k]) + penalty.l2 * weights[k] * weights[k]);
    return out;
}

std::vector<double> LinearPath::coefficients(const std::vector<double>& weights) const {
    std::vector<double> at(weights.size());
    for (size_t k = 0; k < at.size(); ++k) at[k] = target_[k] + weights[k];
    std::vector<double> out(rows_.outputs() * coordinates_.rows);
    for (int o = 0; o < rows_.outputs(); ++o)
        coordinates_.multiply(at.data() + o * coordinates_.columns,
                              out.data() + o * coordinates_.rows);
    return out;
}

}  // namespace lessnaive
