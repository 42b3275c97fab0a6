// Rows of an additive model: codes, knots and numbers side by side, one block of parameters each.
//
// score_o(row) = b_o + sum over blocks of
//   coded:  w_o[code]                                       one parameter per code
//   hat:    (1 - share) w_o[code] + share w_o[code + 1]     piecewise linear between knots
//   line:   value w_o[0]                                    one parameter
// One output is the log-odds of the second of two classes; several outputs go through the softmax.
// Parameters stand as (parameters, pad), the intercepts in the last row; what is behind the last
// output is 0.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace lessnaive {

struct AdditiveBlock {
    enum Kind { coded = 0, hat = 1, line = 2 };
    Kind kind;
    int64_t first;         // place of its first parameter
    int64_t size;          // number of its parameters
    const void* codes;     // rows, for coded and hat
    int width;             // bytes of a code: 1, 2 or 4
    const double* values;  // rows: the shares of a hat, the values of a line
};

class AdditiveRows {
  public:
    // Nothing is copied: all arrays must live as long as the rows. Weights and offset may be null;
    // offset is (rows, outputs).
    AdditiveRows(std::vector<AdditiveBlock> blocks, const int32_t* labels, const double* weights,
                 const double* offset, int64_t rows, int classes);

    int64_t rows() const { return rows_; }
    int classes() const { return classes_; }
    int outputs() const { return classes_ == 2 ? 1 : classes_; }
    int pad() const { return pad_; }
    // Of one output: blocks, then the intercept.
    int64_t parameters() const { return parameters_; }
    int64_t length() const { return parameters_ * pad_; }
    double total_weight() const { return total_weight_; }
    const std::vector<AdditiveBlock>& blocks() const { return blocks_; }
    // Numbers that one pass reads, for estimates of its time.
    int64_t cells() const { return rows_ * pad_ * static_cast<int64_t>(1 + blocks_.size()); }

    // out (rows, outputs)
    void scores(const double* parameters, double* out) const;
    // The negative log-likelihood; fills its gradient and the probabilities (rows, pad), of one
    // output that of the second class, unless null.
    double loss(const double* parameters, double* gradient, double* probabilities) const;
    // out = Hessian of the loss times direction, given the probabilities.
    void hessian_product(const double* probabilities, const double* direction, double* out) const;
    // The Hessian's part of each output that couples neighbours of a block at most: its diagonal,
    // and what stands beside it (of parameters p and p + 1), which is 0 but for hats.
    void bands(const double* probabilities, double* diagonal, double* beside) const;
    // out (parameters, stride): the upper triangle of sum over rows of weight x x', estimated from
    // about `enough` rows at even distances. `factor`, of the rows, multiplies the weight unless
    // null; `factor_stride` is the distance of its entries.
    void gram(const double* factor, int64_t factor_stride, int64_t enough, double* out,
              int64_t stride) const;
    // Means over the rows of p (1 - p) for each output.
    void mean_curvature(const double* probabilities, double* out) const;

  private:
    // Calls work(task's own numbers, first row, number of rows) for all blocks of rows, and adds
    // the numbers (size) of all tasks up in out.
    using Work = std::function<void(double*, int64_t, int)>;
    void over_rows(int64_t size, double* out, const Work& work) const;
    void add_scores(const double* parameters, bool with_offset, int64_t first, int count,
                    double* scores) const;
    void add_gradient(const double* residuals, int64_t first, int count, double* gradient) const;

    std::vector<AdditiveBlock> blocks_;
    const int32_t* labels_;
    const double* weights_;
    const double* offset_;
    int64_t rows_, parameters_;
    int classes_, pad_;
    double total_weight_;
};

}  // namespace lessnaive
