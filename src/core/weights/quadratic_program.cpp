#include "weights/quadratic_program.hpp"

#include <algorithm>
#include <cmath>

#include "base/interrupt.hpp"
#include "base/simd.hpp"

namespace lessnaive {
namespace {

LESSNAIVE_WIDE void add_multiple(const double* from, double factor, int64_t size, double* to) {
    for (int64_t i = 0; i < size; ++i) to[i] += factor * from[i];
}

// L L' = A, in place in the lower triangle, row by row. A pivot that rounding has eaten is replaced
// by `lost` times what it was before: little if a direction without curvature is to be followed as
// far as something stops it, much if nothing is to be gained there.
void cholesky(std::vector<double>& a, int64_t n, double lost) {
    for (int64_t j = 0; j < n; ++j) {
        poll();
        double* row = a.data() + j * n;
        const double before = row[j];
        double pivot = before;
        for (int64_t k = 0; k < j; ++k) pivot -= row[k] * row[k];
        row[j] = std::sqrt(pivot > 1e-12 * before ? pivot : lost * before);
        for (int64_t i = j + 1; i < n; ++i) {
            double* other = a.data() + i * n;
            double sum = other[j];
            // Four sums, in a fixed order.
            double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
            int64_t k = 0;
            for (; k + 4 <= j; k += 4) {
                s0 += other[k] * row[k];
                s1 += other[k + 1] * row[k + 1];
                s2 += other[k + 2] * row[k + 2];
                s3 += other[k + 3] * row[k + 3];
            }
            for (; k < j; ++k) s0 += other[k] * row[k];
            other[j] = (sum - ((s0 + s1) + (s2 + s3))) / row[j];
        }
    }
}

void solve_with(const std::vector<double>& l, int64_t n, double* x) {
    for (int64_t i = 0; i < n; ++i) {
        for (int64_t k = 0; k < i; ++k) x[i] -= l[i * n + k] * x[k];
        x[i] /= l[i * n + i];
    }
    for (int64_t i = n - 1; i >= 0; --i) {
        x[i] /= l[i * n + i];
        for (int64_t k = 0; k < i; ++k) x[k] -= l[i * n + k] * x[i];
    }
}

class Solver {
  public:
    explicit Solver(const QuadraticProgram& program)
        : p_(program),
          x_(p_.start, p_.start + p_.size),
          slope_(p_.gradient, p_.gradient + p_.size) {
        for (int64_t k = 0; k < p_.size; ++k) move(k, std::clamp(x_[k], p_.lower[k], p_.upper[k]));
    }

    QuadraticSolution run(double tolerance, int most_rounds) {
        int round = 0;
        double residual = largest_residual();
        while (residual > tolerance && round < most_rounds) {
            sweep();
            sweep();
            if (largest_residual() > tolerance) {
                // Each cut step settles one weight more.
                for (int64_t k = 0; k < p_.size && !solve_free(); ++k) {
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
    bool solve_free() {
        poll();
        std::vector<int64_t> free;
        for (int64_t k = 0; k < p_.size; ++k)
            if (is_free(k)) free.push_back(k);
        const int64_t n = static_cast<int64_t>(free.size());
        if (n == 0) return true;
        if (free != factored_) {
            factor_.assign(n * n, 0.0);
            for (int64_t i = 0; i < n; ++i) {
                poll();
                for (int64_t k = 0; k <= i; ++k)
                    factor_[i * n + k] = p_.hessian[free[i] * p_.size + free[k]];
                double& diagonal = factor_[i * n + i];
                diagonal = diagonal * (1 + 1e-13) + 2 * l2(free[i]);
            }
            // Only the absolute values slope where the loss is flat.
            cholesky(factor_, n, p_.l1 > 0 ? 1e-12 : 1e200);
            factored_ = free;
        }
        std::vector<double> step(n);
        for (int64_t i = 0; i < n; ++i) step[i] = -derivative(free[i]);
        solve_with(factor_, n, step.data());
        double length = 1.0;
        for (int64_t i = 0; i < n; ++i) length = std::min(length, room(free[i], step[i]));
        if (!(length > 0)) return true;
        for (int64_t i = 0; i < n; ++i) {
            const int64_t k = free[i];
            // Exactly onto what stops it, so that the next sweep sees it there.
            const bool stops = length < 1.0 && room(k, step[i]) <= length;
            move(k, stops ? stop(k, step[i]) : x_[k] + length * step[i]);
        }
        return length == 1.0;
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
    std::vector<int64_t> factored_;
};

}  // namespace

QuadraticSolution solve(const QuadraticProgram& program, double tolerance, int most_rounds) {
    return Solver(program).run(tolerance, most_rounds);
}

}  // namespace lessnaive
