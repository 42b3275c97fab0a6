#include "weights/newton_path.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/interrupt.hpp"
#include "base/simd.hpp"

namespace lessnaive {
namespace {

// Share of the predicted decrease that a step must bring.
constexpr double kSufficient = 1e-4;
// The curvature is looked at again when the loss has fallen to this share: the surer the model, the
// less curvature there is, and with too much of it the minimum seems nearer than it is.
constexpr double kOld = 0.7;
// A share of the objective that is lost in its rounding: below it only the slopes tell more.
constexpr double kRounding = 1e-13;
// An objective of less than this share of the loss without evidence is next to nothing: how near it
// is to its minimum does not matter to any score, and rounding would have the last word.
constexpr double kNothing = 1e-4;
// A step that promises less than this share of the objective may fail by its rounding.
constexpr double kInvisible = 1e-7;
constexpr double kShortest = 1e-10;
// Rows that are sure of their class, rightly or wrongly, have no curvature left, and a step by it
// is far too long. Then it gets a share of what there is without any evidence, of which for two
// classes the whole bounds it everywhere.
constexpr double kFirstDamping = 1e-3, kMostDamping = 1e3;
// What the weights did from the last penalty but one to the last, they may do again, on a scale of
// logarithms, for a step of so many times that length at the most.
constexpr double kFarthest = 2;
// Rounds of the inner solver at the most, what it may leave of the tolerance, and of the slopes: a
// model that is only right near by need not be minimized to the last digit.
constexpr int kMostRounds = 50;
constexpr double kInner = 1e-3;
constexpr double kInnerShare = 0.03;
// When others have to work too, so do all those whose slope is this share of what holds them: a
// penalty or two later they would have to.
constexpr double kSoon = 0.9;
// Weights that begin to work at a time: so many, or twice as many as are at work.
constexpr size_t kNewcomers = 100;
// Where this share of all weights would be at work, all are, so that none has to begin again.
constexpr double kNearlyAll = 0.75;
// More weights at work have no room, or their products take longer than other solvers.
constexpr size_t kMostAtWork = 1500;

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

NewtonPath::NewtonPath(std::unique_ptr<const PathLoss> loss, std::vector<double> factor,
                       std::vector<double> start)
    : loss_(std::move(loss)),
      factor_(std::move(factor)),
      point_(look(std::move(start))),
      first_loss_(point_.loss),
      exact_(false),
      loss_at_curvature_(point_.loss) {}

NewtonPath::Found NewtonPath::minimize(double l1, double l2, double tolerance, int max_passes,
                                       Leader leader) {
    const Penalty penalty{l1, l2};
    const int passes = go_on_as_before(penalty);
    Found out = descend(penalty, tolerance, max_passes, leader, passes);
    minima_[0] = std::move(minima_[1]);
    minima_[1] = {penalty, out.weights};
    return out;
}

int NewtonPath::go_on_as_before(const Penalty& penalty) {
    const Minimum &first = minima_[0], &last = minima_[1];
    const double strength = penalty.sum();
    if (!(first.penalty.sum() > last.penalty.sum() && last.penalty.sum() > strength)) return 0;
    const double share = std::log(last.penalty.sum() / strength) /
                         std::log(first.penalty.sum() / last.penalty.sum());
    if (!(share <= kFarthest)) return 0;
    std::vector<double> guess = last.weights;
    for (size_t k = 0; k < guess.size(); ++k) {
        const double to = last.weights[k] + share * (last.weights[k] - first.weights[k]);
        guess[k] = factor_[k] == 0 || to * last.weights[k] > 0 ? to : 0.0;
    }
    Point next = look(std::move(guess));
    if (next.loss + cost(penalty, next.weights) < point_.loss + cost(penalty, point_.weights)) {
        learn_curvature(next);
        point_ = std::move(next);
        exact_ = false;
    }
    return 1;
}

NewtonPath::Found NewtonPath::descend(const Penalty& penalty, double tolerance, int max_passes,
                                      Leader leader, int passes) {
    const bool held = penalty.sum() > 0;
    double before = HUGE_VAL;  // what there was to gain before the last step
    bool from_exact = false;   // whether that step was made with the exact curvature
    for (;;) {
        const double now = cost(penalty, point_.weights);
        const double scale =
            std::max(held ? point_.loss + now : first_loss_, kNothing * loss_->without_evidence());
        const double enough = tolerance * scale;
        // No objective is below 0.
        if (held && point_.loss + now <= enough) return {point_.weights, passes, true};
        if (admit(penalty, leader)) {
            ++passes;
            before = HUGE_VAL;
        }
        if (crowded_) return {point_.weights, passes, false};
        QuadraticSolution found = minimum_of_model(penalty, enough);
        std::vector<double> goal = point_.weights;
        for (size_t i = 0; i < working_.size(); ++i) goal[working_[i]] = found.x[i];
        const std::vector<double> move = at_work(difference(goal, point_.weights));
        // The slope of the model is linear on the way from here to its minimum.
        const double gain = now - cost(penalty, goal) -
                            0.5 * (dot(at_work(point_.gradient), move) + dot(found.slope, move));
        const bool old = point_.loss < kOld * loss_at_curvature_;
        const bool slow = gain > loss_->slow() * before;
        if (gain <= enough && (exact_ || !old) && !left_out_)
            return {std::move(goal), passes, true};
        if (slow && from_exact && gain <= kRounding * scale) return {std::move(goal), passes, true};
        if (passes >= max_passes) return {point_.weights, passes, false};
        if ((slow || old) && !exact_) {
            look_at_curvature();
            leader.path = nullptr;
            ++passes;
            before = HUGE_VAL;
            continue;
        }
        from_exact = exact_;
        const int steps = walk(penalty, goal);
        if (exact_) leader.path = nullptr;
        if (steps == 0) {
            // Nothing to be gained that the objective would show, or else a step that failed.
            if (gain <= kInvisible * scale) return {point_.weights, passes, true};
            if (damping_ >= kMostDamping) return {point_.weights, passes, false};
            damping_ = std::max(kFirstDamping, 10 * damping_);
            look_at_curvature();
            ++passes;
            before = HUGE_VAL;
            continue;
        }
        passes += steps;
        before = gain;
    }
}

int NewtonPath::walk(const Penalty& penalty, const std::vector<double>& goal) {
    const std::vector<double> move = difference(goal, point_.weights);
    const double now = cost(penalty, point_.weights);
    const double slope = dot(point_.gradient, move) + cost(penalty, goal) - now;
    const double rounding =
        kRounding * std::max(point_.loss + now, kNothing * loss_->without_evidence());
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

QuadraticSolution NewtonPath::minimum_of_model(const Penalty& penalty, double enough) const {
    const int64_t size = static_cast<int64_t>(working_.size());
    double trace = 0;
    for (int64_t k = 0; k < size; ++k) trace += hessian_[k * size + k];
    const std::vector<double> gradient = at_work(point_.gradient), start = at_work(point_.weights),
                              factor = at_work(factor_), zeros(size, 0.0), lowest(size, -HUGE_VAL),
                              highest(size, HUGE_VAL);
    const QuadraticProgram program{size,         hessian_.data(), gradient.data(), start.data(),
                                   zeros.data(), lowest.data(),   highest.data(),  factor.data(),
                                   penalty.l1,   penalty.l2};
    // A slope of r along a curvature of h is r^2 / 2h above the minimum.
    const double count = static_cast<double>(std::max<int64_t>(size, 1));
    const double tolerance = kInner * std::sqrt(2 * enough * trace) / count;
    return solve(program, tolerance, kInnerShare, kMostRounds);
}

std::vector<double> NewtonPath::at_work(const std::vector<double>& all) const {
    std::vector<double> out(working_.size());
    for (size_t i = 0; i < out.size(); ++i) out[i] = all[working_[i]];
    return out;
}

bool NewtonPath::admit(const Penalty& penalty, const Leader& leader) {
    const auto wants = [&](int64_t k, double share) {
        const double holds = penalty.l1 * factor_[k];
        return point_.weights[k] != 0 || holds == 0 ||
               std::fabs(point_.gradient[k]) > share * holds;
    };
    size_t next = 0;
    bool complete = !crowded_;
    for (int64_t k = 0; k < size() && complete; ++k) {
        const bool works = next < working_.size() && working_[next] == k;
        next += works;
        complete = works || !wants(k, 1.0);
    }
    if (complete) {
        left_out_ = false;
        return false;
    }
    bool led = leader.path && !leader.path->crowded_;
    int64_t soon = 0;
    for (int64_t k = 0; k < size(); ++k) {
        led = led && (!wants(k, 1.0) || leader.path->works(k));
        soon += wants(k, kSoon);
    }
    const double share = static_cast<double>(soon) > kNearlyAll * size() ? 0.0 : kSoon;
    // Where none of the last newcomers has moved, others may.
    const size_t twice = left_out_ ? 2 * working_.size() : 0;
    working_.clear();
    std::vector<std::pair<double, int64_t>> newcomers;  // the steepest first
    for (int64_t k = 0; k < size(); ++k) {
        const double holds = penalty.l1 * factor_[k];
        if (point_.weights[k] != 0 || holds == 0)
            working_.push_back(k);
        else if (wants(k, share) && (!led || leader.path->works(k)))
            newcomers.emplace_back(-std::fabs(point_.gradient[k]) / holds, k);
    }
    const size_t most = std::max({kNewcomers, 2 * working_.size(), twice});
    std::sort(newcomers.begin(), newcomers.end());
    left_out_ = newcomers.size() > most && wants(newcomers[most].second, 1.0);
    for (size_t i = 0; i < std::min(most, newcomers.size()); ++i)
        working_.push_back(newcomers[i].second);
    std::sort(working_.begin(), working_.end());
    crowded_ = working_.size() > kMostAtWork;
    if (crowded_) return false;
    if (led)
        take_curvature_of(leader);
    else
        look_at_curvature();
    return true;
}

NewtonPath::Point NewtonPath::look(std::vector<double> weights) const {
    std::vector<double> gradient(weights.size());
    const double loss = loss_->value_and_gradient(weights, gradient);
    return {std::move(weights), std::move(gradient), loss};
}

void NewtonPath::look_at_curvature() {
    const size_t count = working_.size();
    hessian_.assign(count * count, 0.0);
    loss_->add_curvature(point_.weights, working_, 1.0, hessian_.data());
    if (damping_ > 0) loss_->add_largest_curvature(working_, damping_, hessian_.data());
    loss_->hold_what_is_open(working_, factor_, hessian_.data());
    exact_ = true;
    loss_at_curvature_ = point_.loss;
}

bool NewtonPath::works(int64_t k) const {
    return std::binary_search(working_.begin(), working_.end(), k);
}

void NewtonPath::take_curvature_of(const Leader& leader) {
    const std::vector<int64_t>& from = leader.path->working_;
    std::vector<size_t> places;
    for (int64_t k : working_)
        places.push_back(std::lower_bound(from.begin(), from.end(), k) - from.begin());
    hessian_.clear();
    for (size_t i : places)
        for (size_t k : places)
            hessian_.push_back(leader.share * leader.path->hessian_[i * from.size() + k]);
    exact_ = false;
    loss_at_curvature_ = leader.share * leader.path->loss_at_curvature_;
}

void NewtonPath::learn_curvature(const Point& next) {
    const int64_t count = static_cast<int64_t>(working_.size());
    const std::vector<double> move = at_work(difference(next.weights, point_.weights));
    std::vector<double> change = at_work(difference(next.gradient, point_.gradient));
    std::vector<double> expected(count, 0.0);
    for (int64_t k = 0; k < count; ++k)
        if (move[k] != 0)
            add_multiple(hessian_.data() + k * count, move[k], count, expected.data());
    const double found = dot(move, change), thought = dot(move, expected);
    if (!(found > 0 && thought > 0)) return;
    const double up = 1 / std::sqrt(found), down = 1 / std::sqrt(thought);
    for (int64_t k = 0; k < count; ++k) {
        change[k] *= up;
        expected[k] *= down;
    }
    poll();
    for (int64_t k = 0; k < count; ++k)
        add_two(change.data(), change[k], expected.data(), expected[k], count,
                hessian_.data() + k * count);
}

double NewtonPath::cost(const Penalty& penalty, const std::vector<double>& weights) const {
    double out = 0;
    for (size_t k = 0; k < weights.size(); ++k)
        out += factor_[k] *
               (penalty.l1 * std::fabs(weights[k]) + penalty.l2 * weights[k] * weights[k]);
    return out;
}

}  // namespace lessnaive
