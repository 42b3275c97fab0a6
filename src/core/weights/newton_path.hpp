// Minima of a loss plus a penalty along a path of penalties.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "weights/quadratic_program.hpp"

namespace lessnaive {

// A convex loss of weights whose target is 0.
class PathLoss {
  public:
    virtual ~PathLoss() = default;

    // The curvature is looked at again when a step leaves more than this of what there was to gain.
    virtual double slow() const { return 0.1; }
    // Weights are a matrix of so many rows.
    virtual int64_t outputs() const = 0;
    // The loss where nothing is known, not even the shares of the classes.
    virtual double without_evidence() const = 0;
    virtual double value_and_gradient(const std::vector<double>& weights,
                                      std::vector<double>& gradient) const = 0;
    // hessian (working, working) += share times the second derivatives by the weights at these
    // places, which are in ascending order.
    virtual void add_curvature(const std::vector<double>& weights,
                               const std::vector<int64_t>& working, double share,
                               double* hessian) const = 0;
    // The same where there is no evidence, and so much curvature.
    virtual void add_largest_curvature(const std::vector<int64_t>& working, double share,
                                       double* hessian) const = 0;
    // Put curvature along what neither loss nor penalty (with these factors of all weights)
    // settles, or rounding would lead far away along it.
    virtual void hold_what_is_open(const std::vector<int64_t>& working,
                                   const std::vector<double>& factor, double* hessian) const = 0;
};

// minimize over w:  loss(w) + sum_k f_k (l1 |w_k| + l2 w_k^2)  for one penalty after the other.
//
// This is the proximal Newton method with a memory. Each step looks at the rows once, and what the
// slopes there tell about the curvature goes into the matrix that is kept (the update of Broyden,
// Fletcher, Goldfarb and Shanno), for the next penalty as well: the ways from one minimum to the
// next are much the same. The matrix is only computed anew when it does not help.
//
// It holds the weights at work alone: those away from zero, those that want to leave it, and, when
// it has to grow, those that will soon. All others are zero, and every look at the rows tells
// whether they still want to be.
class NewtonPath {
  public:
    NewtonPath(std::unique_ptr<const PathLoss> loss, std::vector<double> factor,
               std::vector<double> start);

    // The path of all rows, for one of a part of them that has this share of their weight: its
    // curvature is a guess, which is corrected where it leads nowhere. It must be at rest.
    struct Leader {
        const NewtonPath* path;
        double share;
    };
    struct Found {
        std::vector<double> weights;
        int passes;     // over all rows
        bool finished;  // whether more passes would be of no use
    };

    // Go on to this penalty, until the objective can fall by no more than `tolerance` of itself
    // (without penalty: of the loss at the start; and no less than so much of a ten-thousandth of
    // the loss without evidence, where rows are sure of their class) if the quadratic model is
    // right, or until rounding leaves nothing to gain. The weights are the minimum of that model,
    // and so better still. With more weights at work than a matrix has room for, it stops before it
    // has begun. When weights begin to work which the leader has at work too, its curvature is
    // taken over.
    Found minimize(double l1, double l2, double tolerance, int max_passes,
                   Leader leader = {nullptr, 1.0});

    int64_t outputs() const { return loss_->outputs(); }
    int64_t size() const { return static_cast<int64_t>(factor_.size()); }
    // Whether more weights are at work than a matrix of their products has room for.
    bool crowded() const { return crowded_; }

  private:
    struct Point {
        std::vector<double> weights, gradient;
        double loss;
    };
    struct Penalty {
        double l1, l2;
        double sum() const { return l1 + l2; }
    };
    struct Minimum {
        Penalty penalty;
        std::vector<double> weights;
    };

    Point look(std::vector<double> weights) const;
    // Move to where the last two minima lead if the objective is less there; returns the passes
    // that this took.
    int go_on_as_before(const Penalty& penalty);
    // Find the minimum, after so many passes.
    Found descend(const Penalty& penalty, double tolerance, int max_passes, Leader leader,
                  int passes);
    // Let all weights work that want to; returns whether that has led to another curvature.
    bool admit(const Penalty& penalty, const Leader& leader);
    bool works(int64_t k) const;
    void look_at_curvature();
    void take_curvature_of(const Leader& leader);
    void learn_curvature(const Point& next);
    std::vector<double> at_work(const std::vector<double>& all) const;
    double cost(const Penalty& penalty, const std::vector<double>& weights) const;
    // By the weights at work.
    QuadraticSolution minimum_of_model(const Penalty& penalty, double tolerance) const;
    // Walk towards the goal until the objective falls enough; returns the passes that this took, or
    // 0 if it does not fall.
    int walk(const Penalty& penalty, const std::vector<double>& goal);

    std::unique_ptr<const PathLoss> loss_;
    std::vector<double> factor_;
    Point point_;
    Minimum minima_[2] = {};  // the last two
    double first_loss_;
    std::vector<int64_t> working_;  // places, in ascending order
    std::vector<double> hessian_;   // of these
    bool crowded_ = false;
    double damping_ = 0;     // share of the largest curvature that was added
    bool left_out_ = false;  // whether others want to work too
    bool exact_;             // whether the curvature is that of this very point
    double loss_at_curvature_;
};

}  // namespace lessnaive
