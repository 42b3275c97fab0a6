#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "discretize.hpp"

namespace lessnaive {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// x log2 x, from a table where x is a whole number.
class Bits {
  public:
    explicit Bits(const SortedColumn& column) {
        double total = 0;
        bool whole = true;
        for (double weight : column.weights) {
            total += weight;
            whole &= weight == std::floor(weight);
        }
        if (column.weights.empty()) total = static_cast<double>(column.size());
        if (!whole || total > kLongestTable) return;
        table_.resize(static_cast<size_t>(total) + 1, 0.0);
        for (size_t k = 2; k < table_.size(); ++k) table_[k] = k * std::log2(k);
    }

    double operator()(double x) const {
        if (!table_.empty()) return table_[static_cast<size_t>(x)];
        return x > 0 ? x * std::log2(x) : 0.0;
    }

  private:
    static constexpr double kLongestTable = 1 << 26;
    std::vector<double> table_;
};

// Class counts of some rows, and n times their entropy in bits.
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
    Mdlp(const SortedColumn& column, int classes)
        : column_(column), classes_(classes), bits_(column) {}

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
    // The first of the cuts of least entropy, or -1 if it does not pay.
    int64_t accepted_cut(int64_t begin, int64_t end) const {
        Side left(classes_, bits_), right(classes_, bits_);
        for (int64_t row = begin; row < end; ++row)
            right.add(column_.labels[row], column_.weight(row));
        const double n = right.total, entropy = right.entropy_times_n() / n;
        const int present = right.present;
        if (present < 2) return -1;
        double least = kInfinity, left_entropy = 0, right_entropy = 0;
        int64_t cut = -1;
        int left_present = 0, right_present = 0;
        double left_total = 0, right_total = 0;
        for (int64_t row = begin; row + 1 < end; ++row) {
            left.add(column_.labels[row], column_.weight(row));
            right.remove(column_.labels[row], column_.weight(row));
            if (column_.values[row] == column_.values[row + 1]) continue;
            const double entropy = left.entropy_times_n() + right.entropy_times_n();
            // Equal entropies differ by rounding only: the first one is kept.
            if (entropy < least - 1e-9 * std::max(1.0, n)) {
                least = entropy;
                cut = row + 1;
                left_entropy = left.entropy_times_n(), right_entropy = right.entropy_times_n();
                left_present = left.present, right_present = right.present;
                left_total = left.total, right_total = right.total;
            }
        }
        if (cut < 0) return -1;
        const double delta = log2_of_labelings(present) -
                             (present * entropy - left_present * (left_entropy / left_total) -
                              right_present * (right_entropy / right_total));
        const double gain = entropy - least / n;
        // Weights may add up to less than two rows, among which there is one cut at least.
        return gain > (std::log2(std::max(n - 1, 1.0)) + delta) / n ? cut : -1;
    }

    const SortedColumn& column_;
    int classes_;
    Bits bits_;
    std::vector<int64_t> cuts_;
};

}  // namespace

Bins discretize_mdlp(const SortedColumn& column, int classes) {
    Bins bins;
    const std::vector<int64_t> cuts = Mdlp(column, classes).cut_rows();
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
