#include "additive/additive_newton.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include "additive/additive_preconditioner.hpp"
#include "base/padding.hpp"
#include "base/simd.hpp"

namespace lessnaive {
namespace {

// A step is exact enough when its residual is this share of the gradient, or when the last few
// products add no more than this share of what was gained, or of what would end the search.
constexpr double kInexact = 0.1, kLeastGain = 0.05, kLeastOfEnough = 0.1;
constexpr int kLast = 4;
constexpr int kMostProducts = 100;
constexpr int kMostHalvings = 30;
// A preconditioner is poor if the first step along its direction is to be shorter than this. It
// missed curvature then, and what it says about how exact a step is means nothing.
constexpr double kPoor = 0.1;
// Largest dense matrix, and how many passes over the rows its factors may cost.
constexpr int64_t kMostDense = 2048;
constexpr double kWorthPasses = 20.0;
// Rows that a matrix is estimated from: at least this many, and so many for each parameter.
constexpr int64_t kFewestRows = 4096, kRowsEach = 8;
// Most numbers that matrices of all outputs may have.
constexpr int64_t kMostNumbers = int64_t{1} << 23;

// Eight sums that do not wait for each other.
LESSNAIVE_WIDE double dot(const std::vector<double>& a, const std::vector<double>& b) {
    double sums[8] = {};
    size_t i = 0;
    for (; i + 8 <= a.size(); i += 8)
        for (int l = 0; l < 8; ++l) sums[l] += a[i + l] * b[i + l];
    for (; i < a.size(); ++i) sums[0] += a[i] * b[i];
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) +
           ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

// Takes the mean over the first `outputs` of each row off; what is behind them is 0 and stays so.
template <int kPad>
LESSNAIVE_WIDE void center_rows(int64_t rows, int outputs, int pad, double* values) {
    const int width = kPad > 0 ? kPad : pad;
    const double share = 1.0 / outputs;
    for (int64_t i = 0; i < rows; ++i, values += width) {
        double sum = 0;
        for (int c = 0; c < width; ++c) sum += values[c];
        const double mean = sum * share;
        for (int c = 0; c < width; ++c) values[c] -= c < outputs ? mean : 0.0;
    }
}

LESSNAIVE_WIDE void add_multiple(double factor, const std::vector<double>& a, double* out) {
    for (size_t i = 0; i < a.size(); ++i) out[i] += factor * a[i];
}

// out = a + factor out
LESSNAIVE_WIDE void scale_and_add(double factor, const std::vector<double>& a, double* out) {
    for (size_t i = 0; i < a.size(); ++i) out[i] = a[i] + factor * out[i];
}

}  // namespace

AdditiveNewton::AdditiveNewton(const AdditiveRows& rows, std::vector<double> penalty,
                               std::vector<double> link, const double* target, const double* hold,
                               std::vector<Rises::Run> runs)
    : rows_(rows),
      penalty_(std::move(penalty)),
      link_(std::move(link)),
      target_(rows.length()),
      hold_(rows.pad()),
      rises_(std::move(runs)) {
    penalty_.resize(rows.parameters(), 0.0);
    link_.resize(rows.parameters(), 0.0);
    const int outputs = rows.outputs(), pad = rows.pad();
    for (int64_t i = 0; i < rows.parameters(); ++i)
        std::copy_n(target + i * outputs, outputs, &target_[i * pad]);
    std::copy_n(hold, outputs, hold_.data());
    if (!rises_.empty()) {
        const std::vector<float> undecided(rows.rows() * pad, 0.5f);
        std::vector<double> beside(rows.length());
        bends_.resize(rows.length());
        rows.bands(undecided.data(), bends_.data(), beside.data());
    }
    if (!is_dense()) return;
    const int64_t size = rows.parameters(), stride = Cholesky::stride_of(size);
    grams_.resize(1, std::vector<double>(size * stride));
    rows.gram(nullptr, 1, std::max(kFewestRows, kRowsEach * size), grams_[0].data(), stride);
}

// Takes the curvature of the rows into the matrices, if the last search was long enough for that.
// Returns whether it did.
bool AdditiveNewton::refresh_grams(const float* p, bool at_any_cost) {
    const int64_t size = rows_.parameters(), stride = Cholesky::stride_of(size);
    const int64_t rows = std::max(rows_.rows(), kFewRows);
    const int64_t enough = std::min(rows, std::max(kFewestRows, kRowsEach * size));
    if (grams_.empty() || size * stride * rows_.outputs() > kMostNumbers) return false;
    const int64_t entries = rows_.entries();
    const double cost = 0.5 * static_cast<double>(enough * entries * entries * rows_.outputs()) +
                        static_cast<double>(size * size * size / 12 * rows_.outputs());
    const double spent = last_products_ * 2.0 * static_cast<double>(rows * rows_.cells_of_row());
    if (spent < cost && !at_any_cost) return false;
    std::vector<float> bend(rows_.rows() * rows_.pad());
    for (size_t i = 0; i < bend.size(); ++i) bend[i] = p[i] * (1.0f - p[i]);
    grams_.resize(rows_.outputs(), std::vector<double>(size * stride));
    for (int c = 0; c < rows_.outputs(); ++c)
        rows_.gram(bend.data() + c, rows_.pad(), enough, grams_[c].data(), stride);
    own_bends_ = true;
    return true;
}

// Takes what is common to all outputs off.
void AdditiveNewton::center(std::vector<double>& values) const {
    if (rows_.outputs() == 1) return;
    with_padding(rows_.pad(), [&](auto width) {
        center_rows<width()>(rows_.parameters(), rows_.outputs(), rows_.pad(), values.data());
    });
}

// Whether dense matrices are worth their cost.
bool AdditiveNewton::is_dense() const {
    const double size = static_cast<double>(rows_.parameters());
    const double rows = static_cast<double>(std::max(rows_.rows(), kFewRows));
    const double cells = rows * static_cast<double>(rows_.cells_of_row());
    const double passes = kWorthPasses * 8.0 * cells + 1e6;
    return size <= kMostDense && rows_.outputs() * size * size * size / 3 <= passes;
}

// What moves of each parameter cost by itself, or some more.
std::vector<double> AdditiveNewton::distances(double lam) const {
    std::vector<double> out = bends_;
    for (size_t i = 0; i < out.size(); ++i) out[i] += lam * (penalty_[i] + 2 * link_[i]) + 1e-9;
    return out;
}

double AdditiveNewton::penalized(double lam, const double* padded, double* gradient,
                                 float* p) const {
    double value = rows_.loss(padded, gradient, p);
    const int pad = rows_.pad();
    for (int c = 0; c < pad; ++c) {
        const int64_t at = (rows_.parameters() - 1) * pad + c;
        const double away = padded[at] - target_[at];
        value += 0.5 * hold_[c] * away * away;
        if (gradient) gradient[at] += hold_[c] * away;
    }
    for (int64_t i = 0; i + 1 < rows_.parameters(); ++i) {
        const double own = lam * penalty_[i], link = lam * link_[i];
        for (int c = 0; c < pad; ++c) {
            const int64_t at = i * pad + c;
            const double away = padded[at] - target_[at];
            value += 0.5 * own * away * away;
            if (gradient) gradient[at] += own * away;
            if (link == 0) continue;
            const double rise = padded[at + pad] - padded[at];
            value += 0.5 * link * rise * rise;
            if (!gradient) continue;
            gradient[at] -= link * rise;
            gradient[at + pad] += link * rise;
        }
    }
    return value;
}

void AdditiveNewton::add_penalty_product(double lam, const double* direction, double* out) const {
    const int pad = rows_.pad();
    for (int c = 0; c < pad; ++c) {
        const int64_t at = (rows_.parameters() - 1) * pad + c;
        out[at] += hold_[c] * direction[at];
    }
    for (int64_t i = 0; i + 1 < rows_.parameters(); ++i) {
        const double own = lam * penalty_[i], link = lam * link_[i];
        for (int c = 0; c < pad; ++c) {
            const int64_t at = i * pad + c;
            out[at] += own * direction[at];
            if (link == 0) continue;
            const double rise = direction[at + pad] - direction[at];
            out[at] -= link * rise;
            out[at + pad] += link * rise;
        }
    }
}

// Fills step with about -inverse Hessian x gradient. With a preconditioner that is not trusted it
// ends after the first product if that is poor, unless there is no better one.
AdditiveNewton::Products AdditiveNewton::newton_step(double lam, double enough, bool trusted,
                                                     const Preconditioner& inverse,
                                                     const double* gradient, const float* p,
                                                     double* step) const {
    const int64_t length = rows_.length();
    std::vector<double> residual(length), preconditioned(length), direction(length), bent(length);
    for (int64_t i = 0; i < length; ++i) residual[i] = -gradient[i];
    std::fill_n(step, length, 0.0);
    center(residual);
    inverse.apply(residual, preconditioned);
    center(preconditioned);
    direction = preconditioned;
    double size = dot(residual, preconditioned), gained = 0, last[kLast] = {};
    const double small = kInexact * kInexact * size;
    int products = 0;
    bool poor = false;
    while ((size > small || (poor && size > 0)) && products < kMostProducts) {
        rows_.hessian_product(p, direction.data(), bent.data());
        add_penalty_product(lam, direction.data(), bent.data());
        center(bent);
        ++products;
        const double curvature = dot(direction, bent);
        if (!(curvature > 0)) break;
        const double length_of_step = size / curvature;
        if (products == 1) poor = length_of_step < kPoor;
        if (poor && !trusted) break;
        add_multiple(length_of_step, direction, step);
        add_multiple(-length_of_step, bent, residual.data());
        const double gain = 0.5 * size * length_of_step;
        gained += gain;
        last[products % kLast] = gain;
        const double lately = std::accumulate(last, last + kLast, 0.0);
        if (products >= kLast && lately < std::max(kLeastGain * gained, kLeastOfEnough * enough))
            break;
        inverse.apply(residual, preconditioned);
        center(preconditioned);
        const double next = dot(residual, preconditioned);
        scale_and_add(next / size, preconditioned, direction.data());
        size = next;
    }
    return {products, poor};
}

AdditiveNewton::Found AdditiveNewton::minimize(double lam, double tolerance, int most_steps,
                                               double* parameters) {
    const int64_t length = rows_.length();
    const int outputs = rows_.outputs(), pad = rows_.pad();
    std::vector<double> now(length), next(length), gradient(length), step(length), trial(length),
        move(length);
    for (int64_t i = 0; i < rows_.parameters(); ++i)
        std::copy_n(parameters + i * outputs, outputs, &now[i * pad]);
    const std::vector<double> weights = distances(lam);
    Rises::Ties ties;
    rises_.project(ties, weights, now);
    std::vector<float> p(rows_.rows() * pad);
    Found found{0, 0, false, penalized(lam, now.data(), gradient.data(), p.data()), 0};
    const double enough = tolerance * rows_.total_weight();
    std::unique_ptr<Preconditioner> inverse;
    const auto renew = [&] {
        inverse = std::make_unique<Preconditioner>(*this, lam, p.data(), ties);
    };
    const auto search = [&](bool trusted) {
        const Products products =
            newton_step(lam, enough, trusted, *inverse, gradient.data(), p.data(), step.data());
        last_products_ = products.count;
        found.products += products.count;
        return products.poor;
    };
    const auto walk = [&](double share) {
        for (int64_t i = 0; i < length; ++i) next[i] = now[i] + share * step[i];
        rises_.project(ties, weights, next);
    };
    const auto slope_to = [&](const std::vector<double>& place) {
        for (int64_t i = 0; i < length; ++i) move[i] = place[i] - now[i];
        return dot(gradient, move);
    };
    while (found.steps < most_steps) {
        bool fresh = grams_.empty();  // the part that couples neighbours always is
        if (found.steps % 3 == 0) fresh |= refresh_grams(p.data(), false);
        Rises::Ties held = rises_.held(now, gradient, weights);
        ties.swap(held);
        if (!inverse || grams_.empty() || found.steps % 3 == 0 || ties != held) renew();
        if (search(fresh) && !fresh) {
            if (refresh_grams(p.data(), true)) renew();
            search(true);
        }
        found.gain = -0.5 * dot(gradient, step);
        if (found.gain <= enough) {
            // Where next to nothing is to gain, rounding may make a step of any length.
            walk(1.0);
            const double value = penalized(lam, next.data(), nullptr, nullptr);
            if (value <= found.objective) {
                now.swap(next);
                found.objective = value;
            }
            found.finished = true;
            break;
        }
        while (rises_.tie_turned(now, step, ties)) {
            renew();
            search(true);
        }
        ++found.steps;
        double share = 1.0, value = 0;
        bool lower = false;
        for (int halvings = 0; halvings < kMostHalvings && !lower; ++halvings, share *= 0.5) {
            walk(share);
            value = penalized(lam, next.data(), trial.data(), p.data());
            lower = value <= found.objective + 1e-4 * slope_to(next);
        }
        if (!lower) {  // rounding leaves nothing to gain
            found.finished = found.gain <= 1e-10 * std::abs(found.objective);
            break;
        }
        now.swap(next);
        gradient.swap(trial);
        found.objective = value;
    }
    for (int64_t i = 0; i < rows_.parameters(); ++i)
        std::copy_n(&now[i * pad], outputs, parameters + i * outputs);
    return found;
}

double AdditiveNewton::objective(double lam, const double* parameters, double* gradient) const {
    const int outputs = rows_.outputs(), pad = rows_.pad();
    std::vector<double> padded(rows_.length()), slope(gradient ? rows_.length() : 0);
    for (int64_t i = 0; i < rows_.parameters(); ++i)
        std::copy_n(parameters + i * outputs, outputs, &padded[i * pad]);
    const double value = penalized(lam, padded.data(), gradient ? slope.data() : nullptr, nullptr);
    if (gradient)
        for (int64_t i = 0; i < rows_.parameters(); ++i)
            std::copy_n(&slope[i * pad], outputs, gradient + i * outputs);
    return value;
}

}  // namespace lessnaive
