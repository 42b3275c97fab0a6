// Boosting of trees that are restricted to pairs of columns.
#pragma once

#include <cstdint>
#include <vector>

#include "additive/pair_tree.hpp"

namespace lessnaive {

struct BoostingRules {
    TreeRules tree;
    double rate;   // how far the scores go toward the value of a leaf
    int patience;  // rounds without a lower loss of held-out rows, after which it is over
};

// Minimizes the sum of -weight log p(label) by adding trees to scores: one output and the sigmoid
// for two classes, as many outputs as classes and the softmax otherwise. It begins at the class
// frequencies. Rows of weight 0 are not learned from.
class PairBoosting {
  public:
    // held_out: weights of the rows that say when it is over; may be null.
    PairBoosting(std::vector<TreeColumn> columns, std::vector<std::vector<int>> partners,
                 std::vector<int32_t> labels, int classes, const double* weights,
                 const double* held_out, BoostingRules rules, ColumnDraw draw);
    PairBoosting(const PairBoosting&) = delete;
    PairBoosting& operator=(const PairBoosting&) = delete;

    // Adds this many rounds, fewer if it is over before: the loss of the held-out rows has not
    // fallen for long. Returns whether it is. A round whose columns cannot be split adds nothing,
    // and is no reason to stop: the next one draws others.
    bool advance(int rounds);

    int outputs() const { return outputs_; }
    int rounds() const { return static_cast<int>(losses_.size()) - 1; }
    // The round with the lowest loss of the held-out rows; the last one without such rows.
    int best_round() const { return held_weights_.empty() ? rounds() : best_; }
    const std::vector<double>& start() const { return start_; }
    // Loss of the held-out rows before the first round and after each one.
    const std::vector<double>& losses() const { return losses_; }
    // Scores of all rows at the best round, (rows, outputs); those of rows that are neither
    // learned from nor held out are those of the start.
    const std::vector<double>& scores() const { return held_weights_.empty() ? scores_ : kept_; }

    // Adds the leaves of the first rounds that look at these columns, and at no other, to out:
    // (n_codes of first, n_codes of second, outputs); without the second if that is -1.
    void add_table(int first, int second, int rounds, double* out) const;

  private:
    struct Addend {
        TreeLeaf leaf;
        int round, output;
    };

    void look(int output, std::vector<TreeSums>& sums) const;
    void probabilities();
    double held_out_loss() const;

    std::vector<TreeColumn> columns_;
    std::vector<int32_t> labels_;
    std::vector<double> weights_, held_weights_;
    int outputs_;
    BoostingRules rules_;
    std::vector<int32_t> used_;  // rows that are learned from or held out
    TreeGrower grower_;
    std::vector<double> start_, scores_, kept_, chances_, losses_;
    std::vector<TreeSums> sums_;
    std::vector<Addend> leaves_;
    int best_ = 0;
    bool over_ = false;
};

}  // namespace lessnaive
