// About the inverse of the Hessian of an additive model.
#pragma once

#include <memory>
#include <vector>

#include "additive/additive_newton.hpp"

namespace lessnaive {

// Applies the inverse of an approximation of the Hessian, in which tied parameters are one: what it
// returns keeps the ties, so that conjugate gradients do.
class AdditiveNewton::Preconditioner {
  public:
    Preconditioner(const AdditiveNewton& problem, double lam, const float* p,
                   const Rises::Ties& ties);
    void apply(const std::vector<double>& from, std::vector<double>& to) const;

  private:
    bool is_pooled() const { return pools_.size() < rows_.parameters(); }
    void apply_pooled(const std::vector<double>& from, std::vector<double>& to) const;
    void make_dense(const AdditiveNewton& problem, double lam, const float* p);
    void factor(const AdditiveNewton& problem, double lam, const std::vector<double>& gram,
                double scale);
    std::vector<double> pooled(const std::vector<double>& matrix) const;
    void make_bands(const AdditiveNewton& problem, double lam, const float* p);
    void pool_bands();
    void factor_bands();
    void solve_bands(const std::vector<double>& from, std::vector<double>& to) const;

    const AdditiveRows& rows_;
    const Pools pools_;
    std::vector<std::unique_ptr<Cholesky>> factors_;
    std::vector<size_t> which_;
    std::vector<double> diagonal_, beside_;
};

}  // namespace lessnaive
