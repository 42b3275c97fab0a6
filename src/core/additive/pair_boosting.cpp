#include "additive/pair_boosting.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace lessnaive {
namespace {

std::vector<int32_t> rows_with(const double* weights, size_t rows) {
    std::vector<int32_t> out;
    for (size_t i = 0; weights != nullptr && i < rows; ++i)
        if (weights[i] > 0) out.push_back(static_cast<int32_t>(i));
    return out;
}

}  // namespace

PairBoosting::PairBoosting(std::vector<TreeColumn> columns, std::vector<std::vector<int>> partners,
                           std::vector<int32_t> labels, int classes, const double* weights,
                           const double* held_out, BoostingRules rules, ColumnDraw draw)
    : columns_(columns),
      labels_(std::move(labels)),
      weights_(weights, weights + labels_.size()),
      outputs_(classes == 2 ? 1 : classes),
      rules_(rules),
      grower_(std::move(columns), std::move(partners), rows_with(weights, labels_.size()),
              rows_with(held_out, labels_.size()), rules.tree, std::move(draw)) {
    std::vector<double> frequency(classes, 0.0);
    double total = 0;
    for (size_t i = 0; i < labels_.size(); ++i) {
        frequency[labels_[i]] += weights_[i];
        total += weights_[i];
    }
    // A class that was not seen is as rare as half a row.
    for (double& f : frequency) f = std::log(std::max(f, 0.5) / total);
    if (outputs_ == 1)
        start_ = {frequency[1] - frequency[0]};
    else
        start_ = frequency;
    scores_.resize(labels_.size() * outputs_);
    for (size_t i = 0; i < labels_.size(); ++i)
        std::copy(start_.begin(), start_.end(), scores_.begin() + i * outputs_);
    chances_.resize(scores_.size());
    sums_.resize(labels_.size());
    probabilities();
}

void PairBoosting::probabilities() {
    for (int64_t row : grower_.rows()) {
        const double* score = scores_.data() + row * outputs_;
        double* chance = chances_.data() + row * outputs_;
        if (outputs_ == 1) {
            chance[0] = 1 / (1 + std::exp(-score[0]));
            continue;
        }
        const double highest = *std::max_element(score, score + outputs_);
        double total = 0;
        for (int k = 0; k < outputs_; ++k) total += chance[k] = std::exp(score[k] - highest);
        for (int k = 0; k < outputs_; ++k) chance[k] /= total;
    }
}

void PairBoosting::look(int output, std::vector<TreeSums>& sums) const {
    for (int64_t row : grower_.rows()) {
        const double chance = chances_[row * outputs_ + output], weight = weights_[row];
        const bool own = outputs_ == 1 ? labels_[row] == 1 : labels_[row] == output;
        sums[row] = {weight * (chance - (own ? 1.0 : 0.0)), weight * chance * (1 - chance), weight};
    }
}

void PairBoosting::advance(int rounds) {
    for (const int last = rounds_ + rounds; rounds_ < last;) {
        ++rounds_;
        for (int output = 0; output < outputs_; ++output) {
            look(output, sums_);
            for (TreeLeaf leaf : grower_.grow(sums_)) {
                leaf.value *= rules_.rate;
                for (int64_t i = leaf.begin; i < leaf.end; ++i)
                    scores_[int64_t{grower_.rows()[i]} * outputs_ + output] += leaf.value;
                for (int64_t i = leaf.held_begin; i < leaf.held_end; ++i)
                    scores_[int64_t{grower_.held_out()[i]} * outputs_ + output] += leaf.value;
                leaves_.push_back({leaf, rounds_, output});
            }
        }
        probabilities();
    }
}

void PairBoosting::add_table(int first, int second, int rounds, double* out) const {
    const int wide = second < 0 ? 1 : columns_[second].n_codes;
    for (const auto& [leaf, round, output] : leaves_) {
        if (round > rounds || leaf.first != first || leaf.second != second) continue;
        for (int a = 0; a < columns_[first].n_codes; ++a) {
            if (!leaf.first_codes[a]) continue;
            for (int b = 0; b < wide; ++b)
                if (second < 0 || leaf.second_codes[b])
                    out[(static_cast<int64_t>(a) * wide + b) * outputs_ + output] += leaf.value;
        }
    }
}

}  // namespace lessnaive
