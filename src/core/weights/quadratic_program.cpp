#include "weights/quadratic_program.hpp"

#include <algorithm>
#include <cmath>

#include "base/dots.hpp"
#include "base/interrupt.hpp"
#include "base/simd.hpp"

namespace lessnaive {
namespace {

LESSNAIVE_WIDE void add_multiple(const double* from, double factor, int64_t size, double* to) {
    for (int64_t i = 0; i < size; ++i) to[i] += factor * from[i];
}

LESSNAIVE_WIDE double dot(const double* a, const double* b, int64_t size) {
    // Four sums, in a fixed order.
    double sums[4] = {};
    int64_t k = 0;
    for (; k + 4 <= size; k += 4)
        for (int l = 0; l < 4; ++l) sums[l] += a[k + l] * b[k + l];
    double sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    for (; k < size; ++k) sum += a[k] * b[k];
    return sum;
}

// L L' = A, row by row, for a lower triangle with zeros above it.
class Factors {
  public:
    // Rows are of a length divisible by 4, so that products of them are wide.
    static int64_t stride_of(int64_t size) { return (size + 3) / 4 * 4; }

    // A pivot that rounding has eaten is replaced by `lost` times what it was before: little if a
    // direction without curvature is to be followed as far as something stops it, much if nothing
    // is to be gained there.
    void find(std::vector<double>& lower, int64_t size, double lost) {
        l_ = lower.data();
        size_ = size;
        stride_ = stride_of(size);
        for (int64_t first = 0; first < size; first += kBlock) {
            poll();
            const int64_t end = std::min(size, first + kBlock);
            if (first > 0) take_off(first, end);
            for (int64_t i = first; i < size; ++i) factor_row(i, first, end, lost);
        }
    }

    void solve(double* x) const {
        for (int64_t i = 0; i < size_; ++i) x[i] = (x[i] - dot(row(i), x, i)) / row(i)[i];
        for (int64_t i = size_ - 1; i >= 0; --i) {
            x[i] /= row(i)[i];
            add_multiple(row(i), -x[i], i, x);
        }
    }

  private:
    static constexpr int64_t kBlock = 32;

    double* row(int64_t i) const { return l_ + i * stride_; }

    // What the columns before `first` say is taken off those from there to `end`.
    void take_off(int64_t first, int64_t end) {
        rows_.clear();
        for (int64_t i = first; i < size_; ++i) rows_.push_back(row(i));
        const int64_t width = end - first;
        products_.assign(rows_.size() * width, 0.0);
        add_dots(rows_.data(), rows_.size(), rows_.data(), width, static_cast<int>(first), false,
                 products_.data(), width);
        for (int64_t i = first; i < size_; ++i)
            for (int64_t j = first; j < std::min(end, i + 1); ++j)
                row(i)[j] -= products_[(i - first) * width + j - first];
    }

    void factor_row(int64_t i, int64_t first, int64_t end, double lost) {
        double* own = row(i);
        for (int64_t j = first; j < std::min(end, i); ++j)
            own[j] = (own[j] - dot(own + first, row(j) + first, j - first)) / row(j)[j];
        if (i >= end) return;
        // The square of a row of L is what the pivot was before.
        const double pivot = own[i] - dot(own + first, own + first, i - first);
        const double before = own[i] + dot(own, own, first);
        own[i] = std::sqrt(pivot > 1e-12 * before ? pivot : lost * before);
    }

    double* l_ = nullptr;
    int64_t size_ = 0, stride_ = 0;
    std::vector<const double*> rows_;
    std::vector<double> products_;
};

// From so many free weights on, conjugate gradients are faster than factors.
constexpr int64_t kManyFree = 300;
constexpr int kMostSteps = 400;
// Among so many weights, sweeps find the free ones at less cost than solutions that are cut.
constexpr int64_t kMany = 128;
constexpr int kSweepsOfMany = 10;
constexpr int64_t kCutsOfMany = 2;
// Directions with less than this share of the curvature of their parts are flat.
constexpr double kFlat = 1e-12;

class Solver {
  public:
    explicit Solver(const QuadraticProgram& program)
        : p_(program),
          x_(p_.start, p_.start + p_.size),
          slope_(p_.gradient, p_.gradient + p_.size) {
        for (int64_t k = 0; k < p_.size; ++k) move(k, std::clamp(x_[k], p_.lower[k], p_.upper[k]));
    }

    QuadraticSolution run(double tolerance, double share, int most_rounds) {
        int round = 0;
        double residual = largest_residual();
        tolerance = std::max(tolerance, share * residual);
        const bool many = p_.size > kMany;
        const int sweeps = many ? kSweepsOfMany : 2;
        const int64_t cuts = many ? kCutsOfMany : p_.size;
        while (residual > tolerance && round < most_rounds) {
            for (int count = 0; count < sweeps; ++count) sweep();
            if (largest_residual() > tolerance) {
                // Each cut step settles one weight more.
                for (int64_t k = 0; k < cuts && !solve_free(tolerance); ++k) {
                }
            }
            residual = largest_residual();
            ++round;
        }
        return {x_, slope_, round, residual};
    }

  private:
    double l1(int64_t k) const { return p_.l1 * p_.factor[k]; }
    double l2(int64_t k) const { return p_.l2 * p_.factor[k]; }

    void move(int64_t k, double to) {
        const double step = to - x_[k];
        if (step == 0) return;
        x_[k] = to;
        add_multiple(p_.hessian + k * p_.size, step, p_.size, slope_.data());
    }

    void sweep() {
        poll();
        for (int64_t k = 0; k < p_.size; ++k) {
            const double h = p_.hessian[k * p_.size + k], a = h + 2 * l2(k);
            const double away = x_[k] - p_.target[k];
            const double pull = h * away - slope_[k];
            double to;
            if (a > 0) {
                const double shrunk = std::max(std::fabs(pull) - l1(k), 0.0);
                to = p_.target[k] + (pull < 0 ? -shrunk : shrunk) / a;
            } else if (std::fabs(pull) > l1(k)) {
                to = pull > 0 ? p_.upper[k] : p_.lower[k];
            } else {
                to = l1(k) > 0 ? p_.target[k] : x_[k];
            }
            if (!std::isfinite(to)) continue;  // no curvature and no bound: nothing to gain safely
            move(k, std::clamp(to, p_.lower[k], p_.upper[k]));
        }
    }

    // The derivative where the penalty is smooth, for a weight away from its target.
    double derivative(int64_t k) const {
        const double away = x_[k] - p_.target[k];
        const double kink = away == 0 ? 0.0 : (away > 0 ? l1(k) : -l1(k));
        return slope_[k] + 2 * l2(k) * away + kink;
    }

    double residual(int64_t k) const {
        double d = derivative(k);
        if (x_[k] == p_.target[k]) d = d > 0 ? std::max(d - l1(k), 0.0) : std::min(d + l1(k), 0.0);
        if (x_[k] <= p_.lower[k]) d = std::min(d, 0.0);
        if (x_[k] >= p_.upper[k]) d = std::max(d, 0.0);
        return std::fabs(d);
    }

    double largest_residual() const {
        double out = 0;
        for (int64_t k = 0; k < p_.size; ++k) out = std::max(out, residual(k));
        return out;
    }

    bool is_free(int64_t k) const {
        const bool kinked = l1(k) > 0 && x_[k] == p_.target[k];
        return !kinked && x_[k] > p_.lower[k] && x_[k] < p_.upper[k] &&
               p_.hessian[k * p_.size + k] + 2 * l2(k) > 0;
    }

    // Newton's step for the free weights, cut where the first of them meets its target or bound;
    // returns whether it was not cut.
    bool solve_free(double tolerance) {
        poll();
        std::vector<int64_t> free;
        for (int64_t k = 0; k < p_.size; ++k)
            if (is_free(k)) free.push_back(k);
        const int64_t n = static_cast<int64_t>(free.size());
        if (n == 0) return true;
        std::vector<double> step(n);
        for (int64_t i = 0; i < n; ++i) step[i] = -derivative(free[i]);
        if (n > kManyFree)
            solve_by_products(free, tolerance, step);
        else
            solve_by_factors(free, step);
        double length = 1.0;
        for (int64_t i = 0; i < n; ++i) length = std::min(length, room(free[i], step[i]));
        if (!(length > 0)) return true;
        for (double share = 1.0; share > length; share *= 0.5)
            if (walk_with_stops(free, step, share)) return false;
        for (int64_t i = 0; i < n; ++i) {
            const int64_t k = free[i];
            // Exactly onto what stops it, so that the next sweep sees it there.
            const bool stops = length < 1.0 && room(k, step[i]) <= length;
            move(k, stops ? stop(k, step[i]) : x_[k] + length * step[i]);
        }
        return length == 1.0;
    }

    // Walk a share of the step, on which each weight halts at what stops it; returns whether that
    // has led downhill. If not, nobody has moved.
    bool walk_with_stops(const std::vector<int64_t>& free, const std::vector<double>& step,
                         double share) {
        poll();
        const std::vector<double> x = x_, slope = slope_;
        for (size_t i = 0; i < free.size(); ++i) {
            const int64_t k = free[i];
            move(k, room(k, step[i]) <= share ? stop(k, step[i]) : x_[k] + share * step[i]);
        }
        double change = 0;
        for (int64_t k : free)
            change +=
                0.5 * (slope[k] + slope_[k]) * (x_[k] - x[k]) + cost(k, x_[k]) - cost(k, x[k]);
        if (change < 0) return true;
        x_ = x;
        slope_ = slope;
        return false;
    }

    double cost(int64_t k, double x) const {
        const double away = x - p_.target[k];
        return l1(k) * std::fabs(away) + l2(k) * away * away;
    }

    // The right side becomes the solution.
    void solve_by_factors(const std::vector<int64_t>& free, std::vector<double>& step) {
        const int64_t n = static_cast<int64_t>(free.size());
        if (free != factored_) {
            gathered_.clear();
            const int64_t stride = Factors::stride_of(n);
            factor_.assign(n * stride, 0.0);
            for (int64_t i = 0; i < n; ++i) {
                poll();
                for (int64_t k = 0; k <= i; ++k)
                    factor_[i * stride + k] = p_.hessian[free[i] * p_.size + free[k]];
                double& diagonal = factor_[i * stride + i];
                diagonal = diagonal * (1 + 1e-13) + 2 * l2(free[i]);
            }
            // Only the absolute values slope where the loss is flat.
            factors_.find(factor_, n, p_.l1 > 0 ? 1e-12 : 1e200);
            factored_ = free;
        }
        factors_.solve(step.data());
    }

    // The same by conjugate gradients, until no slope is above a share of the tolerance.
    void solve_by_products(const std::vector<int64_t>& free, double tolerance,
                           std::vector<double>& step) {
        const int64_t n = static_cast<int64_t>(free.size());
        if (free != gathered_) {
            factored_.clear();
            factor_.resize(n * n);
            for (int64_t i = 0; i < n; ++i) {
                const double* row = p_.hessian + free[i] * p_.size;
                for (int64_t k = 0; k < n; ++k) factor_[i * n + k] = row[free[k]];
                factor_[i * n + i] += 2 * l2(free[i]);
            }
            gathered_ = free;
        }
        std::vector<double> left = step, scaled(n), along(n), product(n);
        std::fill(step.begin(), step.end(), 0.0);
        double strength = 0;
        for (int count = 0; count < kMostSteps; ++count) {
            poll();
            double largest = 0, now = 0;
            for (int64_t i = 0; i < n; ++i) {
                largest = std::max(largest, std::fabs(left[i]));
                scaled[i] = left[i] / factor_[i * n + i];
                now += left[i] * scaled[i];
            }
            if (largest <= 0.1 * tolerance) return;
            const double again = count == 0 ? 0.0 : now / strength;
            strength = now;
            for (int64_t i = 0; i < n; ++i) along[i] = scaled[i] + again * along[i];
            std::fill(product.begin(), product.end(), 0.0);
            for (int64_t i = 0; i < n; ++i)
                add_multiple(factor_.data() + i * n, along[i], n, product.data());
            double bend = 0, parts = 0;
            for (int64_t i = 0; i < n; ++i) {
                bend += along[i] * product[i];
                parts += along[i] * along[i] * factor_[i * n + i];
            }
            // Only the absolute values slope where the loss is flat: as far as something stops it.
            const bool flat = !(bend > kFlat * parts);
            if (flat && p_.l1 == 0) return;
            const double length = strength / (flat ? kFlat * parts : bend);
            for (int64_t i = 0; i < n; ++i) {
                step[i] += length * along[i];
                left[i] -= length * product[i];
            }
            if (flat) return;
        }
    }

    // What a free weight meets first on its way.
    double stop(int64_t k, double step) const {
        const double target = p_.target[k];
        if (l1(k) > 0 && (step > 0 ? x_[k] < target : x_[k] > target)) return target;
        return step > 0 ? p_.upper[k] : p_.lower[k];
    }

    double room(int64_t k, double step) const {
        if (step == 0) return HUGE_VAL;
        return (stop(k, step) - x_[k]) / step;
    }

    const QuadraticProgram& p_;
    std::vector<double> x_, slope_, factor_;
    Factors factors_;
    std::vector<int64_t> factored_, gathered_;  // of which free weights the matrix is
};

}  // namespace

QuadraticSolution solve(const QuadraticProgram& program, double tolerance, double share,
                        int most_rounds) {
    return Solver(program).run(tolerance, share, most_rounds);
}

}  // namespace lessnaive
