#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/interrupt.hpp"
#include "binning/discretize.hpp"
#include "binning/two_class_cut.hpp"

namespace lessnaive {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Of some rows: weight, n times the entropy of the classes in bits, and how many classes there are.
struct Summary {
    double total = 0, bits = 0;
    int present = 0;
};

// Class counts of some rows.
class Side {
  public:
    Side(int classes, const Bits& bits) : bits_(bits), counts_(classes, 0.0), rows_(classes, 0) {}

    void add(uint32_t label, double weight) {
        double& count = counts_[label];
        present += rows_[label]++ == 0;
        sum_ -= bits_(count);
        count += weight;
        sum_ += bits_(count);
        total += weight;
    }

    void remove(uint32_t label, double weight) {
        double& count = counts_[label];
        sum_ -= bits_(count);
        count -= weight;
        // Weights that are not whole leave dust behind, on either side of 0.
        if (--rows_[label] == 0 || count < 0) count = 0;
        present -= rows_[label] == 0;
        sum_ += bits_(count);
        total = std::max(total - weight, 0.0);
    }

    double entropy_times_n() const { return bits_(total) - sum_; }
    Summary summary() const { return {total, entropy_times_n(), present}; }

    double total = 0;
    int present = 0;

  private:
    const Bits& bits_;
    std::vector<double> counts_;
    std::vector<int64_t> rows_;
    double sum_ = 0;
};

// log2(3^k - 2), also where 3^k is too large for a double.
double log2_of_labelings(int k) {
    return k * std::log2(3.0) + std::log1p(-2.0 * std::pow(3.0, -k)) / std::log(2.0);
}

class Mdlp {
  public:
    Mdlp(const SortedColumn& column, int classes, const Bits& bits)
        : column_(column), classes_(classes), bits_(bits) {}

    std::vector<int64_t> cut_rows() {
        std::vector<std::pair<int64_t, int64_t>> waiting{{0, column_.size()}};
        while (!waiting.empty()) {
            const auto [begin, end] = waiting.back();
            waiting.pop_back();
            const int64_t cut = accepted_cut(begin, end);
            if (cut < 0) continue;
            cuts_.push_back(cut);
            waiting.push_back({begin, cut});
            waiting.push_back({cut, end});
        }
        std::sort(cuts_.begin(), cuts_.end());
        return cuts_;
    }

  private:
    struct Split {
        int64_t row = -1;
        Summary whole, left, right;
    };

    // The cut of least entropy, or -1 if it does not pay.
    int64_t accepted_cut(int64_t begin, int64_t end) const {
        poll();
        const bool plain = classes_ == 2 && column_.weights.empty();
        const Split split = plain ? best_of_two(begin, end) : best_of_many(begin, end);
        const auto& [row, whole, left, right] = split;
        if (row < 0) return -1;
        const double n = whole.total, entropy = whole.bits / n;
        const double delta = log2_of_labelings(whole.present) -
                             (whole.present * entropy - left.present * (left.bits / left.total) -
                              right.present * (right.bits / right.total));
        const double gain = entropy - (left.bits + right.bits) / n;
        // Weights may add up to less than two rows, among which there is one cut at least.
        return gain > (std::log2(std::max(n - 1, 1.0)) + delta) / n ? row : -1;
    }

    // Entropies nearer than this differ by rounding only: the first one is kept.
    static double tolerance(double n) { return 1e-9 * std::max(1.0, n); }

    Split best_of_many(int64_t begin, int64_t end) const {
        Side left(classes_, bits_), right(classes_, bits_);
        for (int64_t row = begin; row < end; ++row)
            right.add(column_.labels[row], column_.weight(row));
        Split split;
        split.whole = right.summary();
        if (split.whole.present < 2) return split;
        double least = kInfinity;
        for (int64_t row = begin; row + 1 < end; ++row) {
            left.add(column_.labels[row], column_.weight(row));
            right.remove(column_.labels[row], column_.weight(row));
            if (column_.values[row] == column_.values[row + 1]) continue;
            const double entropy = left.entropy_times_n() + right.entropy_times_n();
            if (entropy < least - tolerance(split.whole.total)) {
                least = entropy;
                split.row = row + 1;
                split.left = left.summary(), split.right = right.summary();
            }
        }
        return split;
    }

    Split best_of_two(int64_t begin, int64_t end) const {
        const auto entropy_times_n = [&](double zeros, double ones) {
            return bits_(zeros + ones) - bits_(zeros) - bits_(ones);
        };
        const auto summary = [&](double zeros, double ones) {
            return Summary{zeros + ones, entropy_times_n(zeros, ones), (zeros > 0) + (ones > 0)};
        };
        TwoClassSearch search(column_, begin, end, entropy_times_n,
                              tolerance(static_cast<double>(end - begin)));
        Split split;
        split.whole = summary(search.zeros(), search.ones());
        if (split.whole.present < 2) return split;
        const TwoClassCut cut = search.best();
        split.row = cut.row;
        split.left = summary(cut.zeros, cut.ones);
        split.right = summary(search.zeros() - cut.zeros, search.ones() - cut.ones);
        return split;
    }

    const SortedColumn& column_;
    int classes_;
    const Bits& bits_;
    std::vector<int64_t> cuts_;
};

}  // namespace

Bins discretize_mdlp(const SortedColumn& column, int classes, const Bits& bits) {
    Bins bins;
    const std::vector<int64_t> cuts = Mdlp(column, classes, bits).cut_rows();
    for (int64_t cut : cuts)
        bins.edges.push_back(cut_between(column.values[cut - 1], column.values[cut]));
    bins.counts.assign((cuts.size() + 1) * classes, 0.0);
    size_t bin = 0;
    for (int64_t row = 0; row < column.size(); ++row) {
        while (bin < cuts.size() && row >= cuts[bin]) ++bin;
        bins.counts[bin * classes + column.labels[row]] += column.weight(row);
    }
    return bins;
}

}  // namespace lessnaive
