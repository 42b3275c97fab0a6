#include "binning/grouping.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/interrupt.hpp"
#include "binning/log_factorial.hpp"
#include "binning/partition.hpp"

namespace lessnaive {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Up to this many different class distributions all partitions are looked at.
constexpr int64_t kExactValues = 12;
// Before pairs are looked at, values are merged along a line down to this many.
constexpr int64_t kPairwiseValues = 256;
// More groups than this are not asked for when there are more values than kLongRecurrence.
constexpr int64_t kMostGroups = 128;
constexpr int64_t kLongRecurrence = 2048;
constexpr double kLongestTable = 1 << 20;
// Moving values between groups stops after looking at this many class counts.
constexpr int64_t kMostWork = 1'000'000'000;

double log_add(double a, double b) {
    if (a < b) std::swap(a, b);
    return b == -kInfinity ? a : a + std::log1p(std::exp(b - a));
}

// log S(V, k) for k = 1 .. most by S(v, k) = k S(v - 1, k) + S(v - 1, k - 1).
std::vector<double> log_stirling_by_recurrence(int64_t values, int64_t most) {
    std::vector<double> row(most + 1, -kInfinity);
    row[0] = 0;
    for (int64_t v = 1; v <= values; ++v) {
        poll();
        for (int64_t k = std::min(v, most); k >= 1; --k)
            row[k] = log_add(std::log(static_cast<double>(k)) + row[k], row[k - 1]);
        row[0] = -kInfinity;
    }
    return {row.begin() + 1, row.end()};
}

// The same by inclusion and exclusion, for values much more numerous than groups: the terms fall
// off like exp(-V / k), and the first ones are all that counts.
double log_stirling_by_sum(int64_t values, int64_t k) {
    double sum = 1, binomial = 1;
    for (int64_t i = 1; i < k; ++i) {
        binomial *= -static_cast<double>(k - i + 1) / static_cast<double>(i);
        const double term = binomial * std::pow(1 - static_cast<double>(i) / static_cast<double>(k),
                                                static_cast<double>(values));
        sum += term;
        if (std::fabs(term) < 1e-17) break;
    }
    const double groups = static_cast<double>(k);
    return static_cast<double>(values) * std::log(groups) - log_gamma(groups + 1) + std::log(sum);
}

// A set of values that are kept together: its class counts.
using Vector = std::vector<double>;

class GroupSearch {
  public:
    GroupSearch(const double* counts, int64_t values, int classes, bool whole_numbers)
        : values_(values),
          classes_(classes),
          total_(std::accumulate(counts, counts + values * classes, 0.0)),
          log_factorial_(std::min(total_ + classes, kLongestTable), whole_numbers),
          prior_(log_partitions(values, values <= kLongRecurrence ? values : kMostGroups)),
          criterion_{log_factorial_, classes, [this](int64_t k) { return prior(k); },
                     rounding_in(log_factorial_(total_))} {
        collect_rays(counts);
    }
    // The criterion points to other members.
    GroupSearch(const GroupSearch&) = delete;
    GroupSearch& operator=(const GroupSearch&) = delete;

    // Group of each ray; groups are not numbered in any order.
    void run() {
        if (classes_ == 2)
            along_the_line();
        else if (static_cast<int64_t>(rays_.size()) <= kExactValues)
            over_all_subsets();
        else
            by_pairs();
    }

    Groups result(const double* counts) const {
        Groups out;
        std::vector<int32_t> name(rays_.size(), -1);
        int32_t names = 0;
        for (int64_t v = 0; v < values_; ++v) {
            int32_t& known = name[group_[ray_of_[v]]];
            if (known < 0) known = names++;
            out.group_of.push_back(known);
        }
        out.counts.assign(static_cast<size_t>(names) * classes_, 0.0);
        for (int64_t v = 0; v < values_; ++v)
            for (int c = 0; c < classes_; ++c)
                out.counts[out.group_of[v] * classes_ + c] += counts[v * classes_ + c];
        describe(out, names);
        return out;
    }

  private:
    double prior(int64_t k) const {
        return k <= static_cast<int64_t>(prior_.size()) ? prior_[k - 1] : kInfinity;
    }

    double cost(const double* counts) const {
        double n = 0, sum = 0;
        for (int c = 0; c < classes_; ++c) {
            n += counts[c];
            sum += log_factorial_(counts[c]);
        }
        return criterion_.interval(n, sum);
    }
    double cost(const Vector& counts) const { return cost(counts.data()); }

    // Values with the same class distribution belong together in an optimal partition: the cost of
    // a group is concave in its counts, so that some optimum has groups in disjoint cones.
    void collect_rays(const double* counts) {
        std::vector<int64_t> order(values_);
        std::iota(order.begin(), order.end(), 0);
        std::vector<double> size(values_);
        std::vector<int> largest(values_, 0);
        for (int64_t v = 0; v < values_; ++v) {
            const double* row = counts + v * classes_;
            size[v] = std::accumulate(row, row + classes_, 0.0);
            // With two classes the order is that of the share of the first one.
            if (classes_ > 2)
                largest[v] = static_cast<int>(std::max_element(row, row + classes_) - row);
        }
        // Values of the same most frequent class are neighbours, the nearer the more alike. Shares
        // that are equal as fractions are equal as doubles, since division rounds correctly.
        const auto compare = [&](int64_t a, int64_t b) {
            if (largest[a] != largest[b]) return largest[a] < largest[b] ? -1 : 1;
            for (int i = 0; i < classes_; ++i) {
                const int c = (largest[a] + i) % classes_;
                const double left = counts[a * classes_ + c] / size[a];
                const double right = counts[b * classes_ + c] / size[b];
                if (left != right) return left < right ? -1 : 1;
            }
            return 0;
        };
        std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
            const int sign = compare(a, b);
            return sign != 0 ? sign < 0 : a < b;
        });
        ray_of_.resize(values_);
        for (int64_t i = 0; i < values_; ++i) {
            if (i == 0 || compare(order[i - 1], order[i]) != 0) rays_.emplace_back(classes_, 0.0);
            ray_of_[order[i]] = static_cast<int32_t>(rays_.size()) - 1;
            for (int c = 0; c < classes_; ++c) rays_.back()[c] += counts[order[i] * classes_ + c];
        }
        group_.resize(rays_.size());
    }

    Parts as_parts() const {
        Parts parts;
        for (const Vector& ray : rays_) {
            for (int c = 0; c < classes_; ++c)
                if (ray[c] > 0) parts.entries.push_back({static_cast<uint32_t>(c), ray[c]});
            parts.close();
        }
        return parts;
    }

    // With two classes cones are intervals of the class share.
    void along_the_line() {
        const Partition partition = best_partition(as_parts(), criterion_);
        int64_t ray = 0;
        for (size_t g = 0; g < partition.ends.size(); ++g)
            for (; ray < partition.ends[g]; ++ray) group_[ray] = static_cast<int32_t>(g);
    }

    // best[k][set]: the least cost of the set as k groups, the one with the lowest member last.
    void over_all_subsets() {
        const int size = static_cast<int>(rays_.size());
        const uint32_t sets = uint32_t{1} << size;
        std::vector<double> set_cost(sets, 0.0);
        Vector sum(classes_);
        for (uint32_t set = 1; set < sets; ++set) {
            std::fill(sum.begin(), sum.end(), 0.0);
            for (int r = 0; r < size; ++r)
                if (set >> r & 1)
                    for (int c = 0; c < classes_; ++c) sum[c] += rays_[r][c];
            set_cost[set] = cost(sum);
        }
        std::vector<std::vector<double>> best{set_cost};
        std::vector<std::vector<uint32_t>> taken{{}};
        double least = prior(1) + set_cost[sets - 1];
        int least_groups = 1;
        for (int k = 2; k <= size; ++k) {
            poll();
            best.emplace_back(sets, kInfinity);
            taken.emplace_back(sets, 0);
            for (uint32_t set = 1; set < sets; ++set) {
                const uint32_t lowest = set & (~set + 1), others = set ^ lowest;
                // All subsets of `others` but the whole join the lowest member.
                for (uint32_t rest = others; rest > 0; rest = (rest - 1) & others) {
                    const double total = best[k - 2][rest] + set_cost[set ^ rest];
                    if (total < best[k - 1][set])
                        best[k - 1][set] = total, taken[k - 1][set] = set ^ rest;
                }
            }
            const double total = prior(k) + best[k - 1][sets - 1];
            if (total < least - criterion_.tolerance) least = total, least_groups = k;
        }
        uint32_t set = sets - 1;
        for (int k = least_groups; k >= 1; --k) {
            const uint32_t members = k == 1 ? set : taken[k - 1][set];
            for (int r = 0; r < size; ++r)
                if (members >> r & 1) group_[r] = k - 1;
            set ^= members;
        }
    }

    // Greedy merging of pairs, then moves of single rays between groups, until nothing helps.
    void by_pairs() {
        std::vector<Vector> sums = merge_along_classes();
        merge_pairs(sums);
        while (move_rays(sums) && merge_pairs(sums)) {
        }
    }

    // Many rays are first merged with their neighbours in the order of collect_rays.
    std::vector<Vector> merge_along_classes() {
        std::vector<Vector> sums;
        const Merged merged = merge_down(as_parts(), criterion_, kPairwiseValues, kInfinity);
        int64_t ray = 0;
        for (int64_t end : merged.ends) {
            sums.emplace_back(classes_, 0.0);
            for (; ray < end; ++ray) {
                group_[ray] = static_cast<int32_t>(sums.size()) - 1;
                for (int c = 0; c < classes_; ++c) sums.back()[c] += rays_[ray][c];
            }
        }
        return sums;
    }

    // Merges the cheapest pairs down to one group and keeps the best stage. Returns whether it
    // differs from the start.
    bool merge_pairs(std::vector<Vector>& sums) {
        std::vector<int32_t> alive;
        for (size_t g = 0; g < sums.size(); ++g) alive.push_back(static_cast<int32_t>(g));
        std::vector<double> costs;
        for (const Vector& sum : sums) costs.push_back(cost(sum));
        const size_t size = sums.size();
        std::vector<double> change(size * size, kInfinity);
        Vector both(classes_);
        const auto update = [&](int32_t a, int32_t b) {
            for (int c = 0; c < classes_; ++c) both[c] = sums[a][c] + sums[b][c];
            change[std::min(a, b) * size + std::max(a, b)] = cost(both) - costs[a] - costs[b];
        };
        for (size_t a = 0; a < size; ++a) {
            poll();
            for (size_t b = a + 1; b < size; ++b) update(a, b);
        }
        double sum = std::accumulate(costs.begin(), costs.end(), 0.0);
        double least = prior(static_cast<int64_t>(size)) + sum;
        std::vector<std::pair<int32_t, int32_t>> steps;
        size_t kept = 0;
        const std::vector<Vector> start = sums;
        while (alive.size() > 1) {
            poll();
            int32_t a = -1, b = -1;
            double cheapest = kInfinity;
            for (size_t i = 0; i < alive.size(); ++i)
                for (size_t j = i + 1; j < alive.size(); ++j)
                    if (change[alive[i] * size + alive[j]] < cheapest)
                        cheapest = change[alive[i] * size + alive[j]], a = alive[i], b = alive[j];
            if (a < 0) break;  // costs that are not numbers
            for (int c = 0; c < classes_; ++c) sums[a][c] += sums[b][c];
            costs[a] = cost(sums[a]);
            alive.erase(std::find(alive.begin(), alive.end(), b));
            for (int32_t other : alive)
                if (other != a) update(a, other);
            sum += cheapest;
            steps.push_back({a, b});
            const double total = prior(static_cast<int64_t>(alive.size())) + sum;
            if (total < least - criterion_.tolerance) least = total, kept = steps.size();
        }
        sums = start;
        std::vector<int32_t> now(size);
        std::iota(now.begin(), now.end(), 0);
        for (size_t s = 0; s < kept; ++s) {
            const auto [a, b] = steps[s];
            for (int c = 0; c < classes_; ++c) sums[a][c] += sums[b][c];
            std::replace(now.begin(), now.end(), b, a);
        }
        compress(sums, now);
        return kept > 0;
    }

    // Renames groups so that only the used ones remain.
    void compress(std::vector<Vector>& sums, const std::vector<int32_t>& now) {
        std::vector<int32_t> name(sums.size(), -1);
        std::vector<Vector> left;
        for (size_t g = 0; g < now.size(); ++g) {
            if (now[g] != static_cast<int32_t>(g)) continue;
            name[g] = static_cast<int32_t>(left.size());
            left.push_back(sums[g]);
        }
        for (int32_t& group : group_) group = name[now[group]];
        sums.swap(left);
    }

    // Returns whether anything was moved.
    bool move_rays(std::vector<Vector>& sums) {
        bool any = false;
        for (bool again = true; again;) {
            again = false;
            for (size_t r = 0; r < rays_.size(); ++r) again |= move_ray(r, sums);
            any |= again;
        }
        return any;
    }

    bool move_ray(size_t r, std::vector<Vector>& sums) {
        poll();
        work_left_ -= static_cast<int64_t>(sums.size()) * classes_;
        if (work_left_ < 0) return false;
        const int32_t from = group_[r];
        Vector without = sums[from], with(classes_);
        for (int c = 0; c < classes_; ++c) without[c] = std::max(without[c] - rays_[r][c], 0.0);
        const bool alone =
            std::all_of(without.begin(), without.end(), [](double count) { return count <= 1e-9; });
        if (alone) return false;  // merging is for merge_pairs
        const double leaving = cost(without) - cost(sums[from]);
        double best = -criterion_.tolerance;
        int32_t to = -1;
        for (size_t g = 0; g < sums.size(); ++g) {
            if (static_cast<int32_t>(g) == from) continue;
            for (int c = 0; c < classes_; ++c) with[c] = sums[g][c] + rays_[r][c];
            const double change = leaving + cost(with) - cost(sums[g]);
            if (change < best) best = change, to = static_cast<int32_t>(g);
        }
        const int64_t groups = static_cast<int64_t>(sums.size());
        const double alone_change = leaving + cost(rays_[r]) + prior(groups + 1) - prior(groups);
        if (alone_change < best) {
            to = static_cast<int32_t>(groups);
            sums.emplace_back(classes_, 0.0);
        }
        if (to < 0) return false;
        for (int c = 0; c < classes_; ++c) sums[to][c] += rays_[r][c];
        sums[from] = without;
        group_[r] = to;
        return true;
    }

    void describe(Groups& out, int64_t groups) const {
        const double log_values = std::log(static_cast<double>(values_));
        Vector all(classes_, 0.0);
        double likelihood = 0;
        out.prior_cost = log_values + prior(groups);
        for (int64_t g = 0; g < groups; ++g) {
            const double* counts = out.counts.data() + g * classes_;
            double n = 0, sum = 0;
            for (int c = 0; c < classes_; ++c) {
                n += counts[c];
                all[c] += counts[c];
                sum += log_factorial_(counts[c]);
            }
            likelihood += log_factorial_(n) - sum;
            out.prior_cost += criterion_.interval(n, log_factorial_(n));
        }
        out.cost = out.null_cost = out.prior_cost + likelihood;
        if (groups > 1) out.null_cost = log_values + prior(1) + cost(all);
    }

    int64_t values_;
    int classes_;
    double total_;
    LogFactorial log_factorial_;
    std::vector<double> prior_;
    Criterion criterion_;
    std::vector<Vector> rays_;
    std::vector<int32_t> ray_of_, group_;
    int64_t work_left_ = kMostWork;
};

}  // namespace

std::vector<double> log_partitions(int64_t values, int64_t most) {
    std::vector<double> out;
    if (values <= kLongRecurrence) {
        out = log_stirling_by_recurrence(values, most);
    } else {
        for (int64_t k = 1; k <= most; ++k) out.push_back(log_stirling_by_sum(values, k));
    }
    for (size_t k = 1; k < out.size(); ++k) out[k] = log_add(out[k - 1], out[k]);
    return out;
}

Groups group_values(const double* counts, int64_t values, int classes, bool whole_numbers) {
    if (values == 0) return {};
    GroupSearch search(counts, values, classes, whole_numbers);
    search.run();
    return search.result(counts);
}

}  // namespace lessnaive
