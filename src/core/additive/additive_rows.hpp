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
#include <vector>

namespace lessnaive {

struct AdditiveBlock {
    enum Kind { coded = 0, hat = 1, line = 2 };
    Kind kind;
    int64_t size;          // number of its parameters
    const void* codes;     // rows, for coded and hat
    int width;             // bytes of a code: 1, 2 or 4
    const double* values;  // rows: the shares of a hat, the values of a line
};

// What rows say about parameters, row after row: a pass then adds to many parameters at a time that
// have nothing to do with each other, and keeps the scores of a row in registers.
struct AdditiveCells {
    int coded = 0, hats = 0, lines = 0;  // blocks of each kind, in this order
    std::vector<uint16_t> narrow;        // (rows, coded + hats) places of parameters, or
    std::vector<uint32_t> wide;          // the same, if there are more of them than fit
    std::vector<double> values;          // (rows, hats + lines)
    std::vector<int64_t> line_places;    // (lines)

    int places() const { return coded + hats; }
    int numbers() const { return hats + lines; }
    // Of one row.
    int64_t bytes() const {
        const int64_t place = wide.empty() ? sizeof(uint16_t) : sizeof(uint32_t);
        return places() * place + numbers() * static_cast<int64_t>(sizeof(double));
    }
};

// Searches over no more rows than this take the same course whether a row counts twice or is there
// twice.
constexpr int64_t kFewRows = 1024;

class AdditiveRows {
  public:
    // All of it is copied; weights may be null.
    AdditiveRows(const std::vector<AdditiveBlock>& blocks, const int32_t* labels,
                 const double* weights, int64_t rows, int classes);

    int64_t rows() const { return rows_; }
    int classes() const { return classes_; }
    int outputs() const { return classes_ == 2 ? 1 : classes_; }
    int pad() const { return pad_; }
    // Of one output: blocks, then the intercept.
    int64_t parameters() const { return parameters_; }
    int64_t length() const { return parameters_ * pad_; }
    double total_weight() const { return total_weight_; }
    // Parameters that a row looks at.
    int64_t entries() const { return 1 + cells_.coded + 2 * cells_.hats + cells_.lines; }
    // Numbers that one pass reads, for estimates of its time.
    int64_t cells() const { return rows_ * cells_of_row(); }
    int64_t cells_of_row() const { return pad_ * (1 + cells_.places() + cells_.lines); }

    // out (rows, outputs)
    void scores(const double* parameters, double* out) const;
    // The negative log-likelihood; fills its gradient and the probabilities (rows, pad), of one
    // output that of the second class, unless null.
    double loss(const double* parameters, double* gradient, float* probabilities) const;
    // out = Hessian of the loss times direction, given the probabilities, to about six digits: it
    // finds steps, which the loss and its gradient then judge.
    void hessian_product(const float* probabilities, const double* direction, double* out) const;
    // The Hessian's part of each output that couples neighbours of a block at most: its diagonal,
    // and what stands beside it (of parameters p and p + 1), which is 0 but for hats.
    void bands(const float* probabilities, double* diagonal, double* beside) const;
    // out (parameters, stride): the upper triangle of sum over rows of weight x x', estimated from
    // about `enough` rows at even distances. `factor`, of the rows, multiplies the weight unless
    // null; `factor_stride` is the distance of its entries.
    void gram(const float* factor, int64_t factor_stride, int64_t enough, double* out,
              int64_t stride) const;
    // Means over the rows of p (1 - p) for each output.
    void mean_curvature(const float* probabilities, double* out) const;

  private:
    // Calls work(task's own numbers, first row, number of rows) for all blocks of rows, and adds
    // the numbers (size) of all tasks up in out.
    template <class Number, class Work>
    void over_rows(int64_t size, Number* out, const Work& work) const;
    template <class Number>
    void add_scores(const Number* parameters, int64_t first, int count, Number* scores) const;
    template <class Number>
    void product_as(const float* probabilities, const double* direction, double* out) const;
    template <class Number>
    void add_gradient(const Number* residuals, int64_t first, int count, Number* gradient) const;
    // Adds what stands beside the diagonal for a row whose outputs have the curvatures `bend`.
    void add_beside(int64_t row, const double* bend, double* beside) const;
    void copy_cells(const std::vector<AdditiveBlock>& blocks);
    // Calls visit(places of row `first`, values of that row).
    template <class Visitor>
    void with_cells(int64_t first, Visitor&& visit) const;
    // The parameters that a row looks at, in their order, and with what factors.
    void row_entries(int64_t row, int64_t* places, double* factors) const;

    AdditiveCells cells_;
    std::vector<int> order_;  // of the coded blocks, hats and lines by their parameters
    // Of the rows that a pass begins with; null if all weights are 1.
    const double* weights_from(int64_t first) const {
        return weights_.empty() ? nullptr : weights_.data() + first;
    }
    double weight(int64_t row) const { return weights_.empty() ? 1.0 : weights_[row]; }

    std::vector<int32_t> labels_;
    std::vector<double> weights_;
    int64_t rows_, parameters_;
    int classes_, pad_;
    double total_weight_;
};

}  // namespace lessnaive
