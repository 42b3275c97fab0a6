// Boosting of trees that are restricted to pairs of columns.
#pragma once

#include <cstdint>
#include <vector>

#include "additive/pair_tree.hpp"

namespace lessnaive {

struct BoostingRules {
    TreeRules tree;
    double rate;  // how far the scores go toward the value of a leaf
};

// Minimizes the sum of -weight log p(label) by adding trees to scores: one output and the sigmoid
// for two classes, as many outputs as classes and the softmax otherwise. It begins at the class
// frequencies. Rows of weight 0 are not learned from.
class PairBoosting {
  public:
    // held_out: more than 0 for rows that get scores, too, but are not learned from; may be null.
    PairBoosting(std::vector<TreeColumn> columns, std::vector<std::vector<int>> partners,
                 std::vector<int32_t> labels, int classes, const double* weights,
                 const double* held_out, BoostingRules rules, ColumnDraw draw);
    PairBoosting(const PairBoosting&) = delete;
    PairBoosting& operator=(const PairBoosting&) = delete;

    // Adds this many rounds. A round whose columns cannot be split adds nothing.
    void advance(int rounds);

    int outputs() const { return outputs_; }
    int rounds() const { return rounds_; }
    const std::vector<double>& start() const { return start_; }
    // Scores of all rows, (rows, outputs); those of rows that are neither learned from nor held out
    // are those of the start.
    const std::vector<double>& scores() const { return scores_; }

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

    std::vector<TreeColumn> columns_;
    std::vector<int32_t> labels_;
    std::vector<double> weights_;
    int outputs_;
    BoostingRules rules_;
    TreeGrower grower_;
    std::vector<double> start_, scores_, chances_;
    std::vector<TreeSums> sums_;
    std::vector<Addend> leaves_;
    int rounds_ = 0;
};

}  // namespace lessnaive
