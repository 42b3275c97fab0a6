// The scores of packed rows under one weight per column, kept for searches that move one weight at
// a time: what a move would do to the loss is found without looking at the other columns.
//
// Probabilities p_c of a row become proportional to p_c exp(delta e_c) when the weight of a column
// with evidence e moves by delta, so that
//   loss after = loss + sum_i s_i log sum_c p_ic exp(delta (e_ic - e_iy)).
// The exponentials are those of the column's table, not of the rows.
//
// Memory: two numbers per row and (padded) class.
#pragma once

#include <cstdint>
#include <vector>

#include "weights/evidence.hpp"

namespace lessnaive {

class ScoreState {
  public:
    // weights: (columns). The evidence must live as long as the state.
    ScoreState(const Evidence& evidence, const double* weights);
    ScoreState(const ScoreState&) = delete;
    ScoreState& operator=(const ScoreState&) = delete;

    const Evidence& evidence() const { return evidence_; }
    // Sum of s_i (-log p_iy).
    double loss() const { return loss_; }
    // The loss if the weight of a column grew by delta.
    double loss_if(int column, double delta) const;
    void apply(int column, double delta);
    // Other weights, without what rounding has left of the moves so far.
    void reset(const double* weights);
    int64_t bytes() const;

  private:
    struct Place {
        bool coded;
        size_t slot;
    };

    double table_loss_change(const Evidence::Coded& coded, double delta) const;
    double exact_loss(const Place& place, double delta) const;
    void add_scores(const Place& place, double delta, const Block& block, double* scores) const;
    void refresh();

    const Evidence& evidence_;
    std::vector<Place> places_;
    std::vector<double> largest_gap_;  // of the evidence for two classes, by coded column
    std::vector<double> scores_, probabilities_;  // (rows, pad)
    double loss_ = 0;
};

}  // namespace lessnaive
