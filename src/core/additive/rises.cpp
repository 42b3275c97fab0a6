#include "additive/rises.hpp"

#include <algorithm>
#include <utility>

namespace lessnaive {
namespace {

// Neighbours that have one value, and how much weight.
struct Level {
    double value, weight;
    int64_t begin;
};

// The levels of the nearest values that rise, by pooling neighbours that do not.
template <class Value>
std::vector<Level> rising_levels(int64_t begin, int64_t end, const std::vector<double>& weights,
                                 const Value& value) {
    std::vector<Level> levels;
    for (int64_t i = begin; i < end; ++i) {
        Level now{value(i), weights[i], i};
        while (!levels.empty() && levels.back().value >= now.value) {
            const Level& last = levels.back();
            const double weight = last.weight + now.weight;
            // Equal values stay what they are.
            const double mean = last.value + (now.value - last.value) * (now.weight / weight);
            now = {mean, weight, last.begin};
            levels.pop_back();
        }
        levels.push_back(now);
    }
    return levels;
}

}  // namespace

Rises::Ties Rises::held(const std::vector<double>& parameters, const std::vector<double>& gradient,
                        const std::vector<double>& weights) const {
    Ties ties;
    if (runs_.empty()) return ties;
    ties.assign(parameters.size(), Tie::none);
    for (const auto [first, last, direction] : runs_) {
        const int sign = direction;
        if (last - first == 1) {
            if (parameters[first] == 0 && sign * gradient[first] > 0) ties[first] = Tie::to_zero;
            continue;
        }
        for (int64_t begin = first, end; begin < last; begin = end) {
            for (end = begin + 1; end < last && parameters[end] == parameters[begin];) ++end;
            std::fill(ties.begin() + begin + 1, ties.begin() + end, Tie::to_last);
            const auto levels = rising_levels(
                begin, end, weights, [&](int64_t i) { return -sign * gradient[i] / weights[i]; });
            for (const Level& level : levels) ties[level.begin] = Tie::none;
        }
    }
    return ties;
}

bool Rises::tie_turned(const std::vector<double>& parameters, const std::vector<double>& step,
                       Ties& ties) const {
    bool any = false;
    const auto tie = [&](int64_t i, bool turned, Tie how) {
        if (!turned || ties[i] != Tie::none) return;
        ties[i] = how;
        any = true;
    };
    for (const auto& [begin, end, sign] : runs_) {
        if (end - begin == 1)
            tie(begin, parameters[begin] == 0 && sign * step[begin] < 0, Tie::to_zero);
        for (int64_t i = begin + 1; i < end; ++i)
            tie(i, parameters[i] == parameters[i - 1] && sign * (step[i] - step[i - 1]) < 0,
                Tie::to_last);
    }
    return any;
}

void Rises::project(const Ties& ties, const std::vector<double>& weights,
                    std::vector<double>& parameters) const {
    for (size_t i = 1; i < ties.size(); ++i)  // rounding may have parted them
        if (ties[i] == Tie::to_last) parameters[i] = parameters[i - 1];
    for (const auto [first, last, direction] : runs_) {
        const int sign = direction;
        if (last - first == 1) {
            if (sign * parameters[first] < 0) parameters[first] = 0;
            continue;
        }
        auto levels =
            rising_levels(first, last, weights, [&](int64_t i) { return sign * parameters[i]; });
        levels.push_back({0, 0, last});
        for (size_t l = 0; l + 1 < levels.size(); ++l)
            std::fill(parameters.begin() + levels[l].begin,
                      parameters.begin() + levels[l + 1].begin, sign * levels[l].value);
    }
}

Pools::Pools(const Rises::Ties& ties, int64_t parameters) : places_(parameters) {
    for (int64_t i = 0; i < parameters; ++i) {
        const Rises::Tie tie = ties.empty() ? Rises::Tie::none : ties[i];
        if (tie == Rises::Tie::none) ++size_;
        places_[i] = tie == Rises::Tie::to_zero ? -1 : size_ - 1;
    }
}

}  // namespace lessnaive
