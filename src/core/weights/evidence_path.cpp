#include "weights/evidence_path.hpp"

#include <cmath>
#include <memory>

#include "weights/curvature.hpp"
#include "weights/weighted_loss.hpp"

namespace lessnaive {
namespace {

// Products of probabilities that curvature can do without.
constexpr double kNegligible = 1e-3;

int64_t size_of(const Evidence& evidence) {
    return static_cast<int64_t>(evidence.classes()) * evidence.columns();
}

class EvidencePathLoss : public PathLoss {
  public:
    EvidencePathLoss(const Evidence& evidence, double target, int64_t enough)
        : evidence_(evidence), target_(target), enough_(enough) {}

    int64_t outputs() const override { return evidence_.classes(); }
    double without_evidence() const override {
        return evidence_.total_weight() * std::log(static_cast<double>(evidence_.classes()));
    }

    // A look at the curvature costs as much as about ten steps.
    double slow() const override { return 0.5; }

    double value_and_gradient(const std::vector<double>& weights,
                              std::vector<double>& gradient) const override {
        return weighted_loss(evidence_, placed(weights).data(), LossKind::log, gradient.data());
    }

    void add_curvature(const std::vector<double>& weights, const std::vector<int64_t>& working,
                       double share, double* hessian) const override {
        add_curvature_at(placed(weights), working, share, hessian);
    }

    void add_largest_curvature(const std::vector<int64_t>& working, double share,
                               double* hessian) const override {
        add_curvature_at(std::vector<double>(size_of(evidence_), 0.0), working, share, hessian);
    }

    // The penalty settles everything.
    void hold_what_is_open(const std::vector<int64_t>&, const std::vector<double>&,
                           double*) const override {}

  private:
    std::vector<double> placed(const std::vector<double>& weights) const {
        std::vector<double> out = weights;
        for (double& each : out) each += target_;
        return out;
    }

    void add_curvature_at(const std::vector<double>& weights, const std::vector<int64_t>& working,
                          double share, double* hessian) const {
        std::vector<double> found(working.size() * working.size());
        curvature(evidence_, weights.data(), LossKind::log, false, working,
                  {enough_, 0, kNegligible}, found.data());
        for (size_t i = 0; i < found.size(); ++i) hessian[i] += share * found[i];
    }

    const Evidence& evidence_;
    double target_;
    int64_t enough_;
};

}  // namespace

EvidencePath::EvidencePath(const Evidence& evidence, double target, int64_t enough)
    : NewtonPath(std::make_unique<const EvidencePathLoss>(evidence, target, enough),
                 std::vector<double>(size_of(evidence), 1.0),
                 std::vector<double>(size_of(evidence), 0.0)) {}

}  // namespace lessnaive
