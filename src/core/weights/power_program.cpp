#include "weights/power_program.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/interrupt.hpp"
#include "base/parallel.hpp"
#include "base/simd.hpp"

namespace lessnaive {
namespace {

// a x^2 / 2 + b x + c x^p.
struct Curve {
    double a, b, c, p;

    double value(double x) const { return x * (0.5 * a * x + b) + raised(x); }
    double raised(double x) const {
        if (c == 0 || x == 0) return 0;
        if (p == 1) return c * x;
        return p == 0.5 ? c * std::sqrt(x) : c * std::pow(x, p);
    }
    double slope(double x) const { return a * x + b + p * raised(x) / x; }
};

// The zero of a slope that grows from below zero to above it.
double rising_zero(const Curve& curve, double low, double high) {
    double x = 0.5 * (low + high);
    for (int i = 0; i < 100 && high - low > 1e-15 * high; ++i) {
        const double slope = curve.slope(x);
        (slope > 0 ? high : low) = x;
        const double bend = curve.a + curve.p * (curve.p - 1) * curve.raised(x) / (x * x);
        const double next = x - slope / bend;
        const double before = x;
        x = bend > 0 && next > low && next < high ? next : 0.5 * (low + high);
        if (std::abs(x - before) <= 1e-15 * x) break;
    }
    return x;
}

// Where the curve has its lowest point in (low, high]; `low` if it falls nowhere.
double valley(const Curve& curve, double low, double high) {
    if (high <= low) return low;
    if (curve.c == 0 || curve.p == 1 || curve.p == 2) {
        const double b = curve.p == 1 ? curve.b + curve.c : curve.b;
        const double a = curve.p == 2 ? curve.a + 2 * curve.c : curve.a;
        if (a > 0) return std::clamp(-b / a, low, high);
        return b < 0 ? high : low;
    }
    // For p < 1 the slope falls first and rises from here on.
    double from = low;
    if (curve.p < 1) {
        const double bends = curve.c * curve.p * (1 - curve.p);
        const double turn = curve.a > 0 ? std::pow(bends / curve.a, 1 / (2 - curve.p)) : high;
        from = std::clamp(turn, low, high);
    }
    if (from > 0 ? curve.slope(from) >= 0 : curve.b >= 0)
        return from == high && curve.value(high) < curve.value(low) ? high : low;
    if (curve.slope(high) <= 0) return high;
    return rising_zero(curve, from, high);
}

LESSNAIVE_WIDE static void add_scaled(const double* row, double by, int64_t size, double* out) {
    for (int64_t j = 0; j < size; ++j) out[j] += by * row[j];
}

class Descent {
  public:
    explicit Descent(const PowerProgram& program)
        : program_(program),
          x_(program.start, program.start + program.size),
          slope_(program.gradient, program.gradient + program.size) {}

    double value() const { return value_; }
    const std::vector<double>& x() const { return x_; }

    int run(double tolerance, int most_rounds, int64_t held) {
        for (int round = 0; round < most_rounds; ++round) {
            const double before = value_;
            poll();
            for (int64_t k = 0; k < program_.size; ++k)
                if (k != held) improve(k);
            if (before - value_ <= tolerance) return round + 1;
        }
        return most_rounds;
    }

    // Moves weight k to its best place; to the best one away from its lower bound if `in`.
    bool improve(int64_t k, bool in = false) {
        const Curve curve = along(k);
        const double low = program_.lower[k], now = x_[k];
        const double best = valley(curve, low, program_.upper[k]);
        if (in && best > low) return move(k, best, curve), true;
        const double at = curve.value(now);
        double goal = best;
        if (curve.value(low) <= curve.value(best)) goal = low;
        if (curve.value(goal) < at) move(k, goal, curve);
        return best > low;
    }

    void move(int64_t k, double goal) { move(k, goal, along(k)); }

  private:
    Curve along(int64_t k) const {
        const double a = program_.hessian[k * program_.size + k];
        return {a, slope_[k] - a * x_[k], program_.cost[k], program_.power};
    }

    void move(int64_t k, double goal, const Curve& curve) {
        const double by = goal - x_[k];
        if (by == 0) return;
        value_ += curve.value(goal) - curve.value(x_[k]);
        x_[k] = goal;
        add_scaled(program_.hessian + k * program_.size, by, program_.size, slope_.data());
    }

    const PowerProgram& program_;
    std::vector<double> x_, slope_;
    double value_ = 0;
};

}  // namespace

PowerSolution solve(const PowerProgram& program, double tolerance, int most_rounds) {
    Descent descent(program);
    const int rounds = descent.run(tolerance, most_rounds, -1);
    return {descent.x(), descent.value(), rounds};
}

std::optional<PowerSolution> make_move(const PowerProgram& program, int64_t k, double tolerance,
                                       int most_rounds) {
    Descent descent(program);
    if (program.start[k] > program.lower[k])
        descent.move(k, program.lower[k]);
    else if (!descent.improve(k, true))
        return std::nullopt;
    const int rounds = descent.run(tolerance, most_rounds, k);
    return PowerSolution{descent.x(), descent.value(), rounds};
}

std::vector<double> try_moves(const PowerProgram& program, double tolerance, int most_rounds) {
    std::vector<double> out(program.size, std::numeric_limits<double>::infinity());
    parallel_for(program.size, program.size * program.size * most_rounds, [&](int64_t k) {
        const auto found = make_move(program, k, tolerance, most_rounds);
        if (found) out[k] = found->value;
    });
    return out;
}

}  // namespace lessnaive
