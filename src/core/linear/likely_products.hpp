// Second derivatives of rows that are sure of most of their classes.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "linear/chosen.hpp"
#include "linear/linear_pass.hpp"

namespace lessnaive {

// What is too little to count, for each output: the probability of a row times what it leaves to
// all others, and the product of the probabilities of two outputs (the less of what the two have
// here).
struct Negligible {
    std::vector<double> alone, between;
};

// Of many blocks of rows, those count for an output in which it is not negligible alone, and those
// for a pair of outputs which count for both and in which their product is not negligible. So
// nothing is left of a row between an output that it does not count for and any other, and the sum
// has no directions of negative curvature. Rows that count are copied side by side, as there are
// few of them in each block.
class LikelyProducts {
  public:
    // Of so many blocks at the most. Coefficients and what is negligible must live as long as this.
    LikelyProducts(const std::vector<Chosen>& chosen, int64_t size, const Negligible& negligible,
                   int64_t blocks);

    // Take the rows of a block, whose probabilities the pass has, with these weights; false if too
    // many of them count, and then it takes none. What there was no room for is added to `out`.
    bool take(const LinearPass& pass, const double* weights, double* out);
    // Add the products of all rows that were taken to the upper triangle of each pair of outputs
    // with the same coefficients, and to all of the others, (size, size).
    void finish(double* out);

    // The second derivatives by the scores of each output, of the blocks that were taken, and how
    // much of that did not count.
    const std::vector<double>& all() const { return all_; }
    const std::vector<double>& left_out() const { return left_out_; }

  private:
    // The rows that count for an output.
    struct Counted {
        int64_t count = 0;
        std::vector<int32_t> rows;           // among those of the blocks that were taken
        std::vector<double> p, q;            // probability, and times weight and what it leaves
        std::unique_ptr<double[]> cells;     // column by column, of the length of `room_`
        std::vector<int32_t> starts, slots;  // of codes, row by row
    };
    // Some of the rows that count for a pair of outputs.
    struct Pair {
        std::vector<int32_t> left, right;  // places among those of the outputs
        std::vector<double> q;
    };

    void append(const LinearPass& pass, int o);
    void find_pairs(int o, int u);
    void add_pairs(int o, int u, double* out);
    void add_codes(const Chosen& left, const Chosen& right, const Counted& rows,
                   const Counted& columns, const int32_t* r, const int32_t* c, const double* q,
                   int64_t count, bool half, double* block) const;
    const double* gathered(const Counted& from, int64_t column, const int32_t* places,
                           int64_t count, const double* q, double* to) const;

    const std::vector<Chosen>& chosen_;
    int64_t size_, room_, blocks_ = 0, most_blocks_;
    const Negligible& negligible_;
    std::vector<double> all_, left_out_;
    std::vector<Counted> counted_;
    // Of the block that is being taken: rows that count, and second derivatives.
    std::vector<std::vector<int32_t>> found_;
    std::vector<std::vector<double>> derivatives_;
    std::vector<int> n_found_;
    std::vector<std::vector<int32_t>> place_of_;  // of rows, among those of an output; -1: none
    Pair pair_;
    std::vector<double> left_, right_;
    std::vector<const double*> lefts_, rights_;
};

}  // namespace lessnaive
