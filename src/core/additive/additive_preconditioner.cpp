#include "additive/additive_preconditioner.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace lessnaive {

AdditiveNewton::Preconditioner::Preconditioner(const AdditiveNewton& problem, double lam,
                                               const float* p, const Rises::Ties& ties)
    : rows_(problem.rows_), pools_(ties, problem.rows_.parameters()) {
    if (problem.grams_.empty())
        make_bands(problem, lam, p);
    else
        make_dense(problem, lam, p);
}

void AdditiveNewton::Preconditioner::apply(const std::vector<double>& from,
                                           std::vector<double>& to) const {
    const int64_t size = rows_.parameters();
    const int pad = rows_.pad();
    if (is_pooled()) return apply_pooled(from, to);
    if (factors_.empty()) return solve_bands(from, to);
    std::vector<double> values(size);
    std::fill(to.begin(), to.end(), 0.0);
    for (int c = 0; c < rows_.outputs(); ++c) {
        for (int64_t i = 0; i < size; ++i) values[i] = from[i * pad + c];
        factors_[which_[c]]->solve(values.data());
        for (int64_t i = 0; i < size; ++i) to[i * pad + c] = values[i];
    }
}

void AdditiveNewton::Preconditioner::apply_pooled(const std::vector<double>& from,
                                                  std::vector<double>& to) const {
    std::vector<double> sums(pools_.size());
    for (int64_t i = 0; i < rows_.parameters(); ++i)
        if (pools_[i] >= 0) sums[pools_[i]] += from[i];
    if (factors_.empty())
        solve_bands(std::vector<double>(sums), sums);
    else
        factors_[0]->solve(sums.data());
    for (int64_t i = 0; i < rows_.parameters(); ++i) to[i] = pools_[i] < 0 ? 0.0 : sums[pools_[i]];
}

// Forward and backward through the neighbours; see make_bands.
void AdditiveNewton::Preconditioner::solve_bands(const std::vector<double>& from,
                                                 std::vector<double>& to) const {
    const int64_t length = diagonal_.size();
    const int pad = rows_.pad();
    for (int c = 0; c < pad; ++c) to[c] = from[c];
    for (int64_t i = pad; i < length; ++i) to[i] = from[i] - beside_[i - pad] * to[i - pad];
    for (int64_t i = length - 1; i >= 0; --i)
        to[i] = to[i] * diagonal_[i] - (i + pad < length ? beside_[i] * to[i + pad] : 0.0);
}

void AdditiveNewton::Preconditioner::make_dense(const AdditiveNewton& problem, double lam,
                                                const float* p) {
    if (problem.own_bends_) {
        for (const std::vector<double>& gram : problem.grams_) {
            which_.push_back(factors_.size());
            factor(problem, lam, gram, 1.0);
        }
        return;
    }
    // Outputs whose curvatures differ by less than a factor of two share a factor.
    std::vector<double> curvature(rows_.outputs());
    rows_.mean_curvature(p, curvature.data());
    std::map<int, size_t> known;
    for (double bend : curvature) {
        bend = std::max(bend, 1e-8);
        const int level = rows_.outputs() == 1 ? 0 : static_cast<int>(std::floor(std::log2(bend)));
        const auto [found, is_new] = known.emplace(level, factors_.size());
        which_.push_back(found->second);
        if (is_new)
            factor(problem, lam, problem.grams_[0],
                   rows_.outputs() == 1 ? bend : std::ldexp(1.5, level));
    }
}

void AdditiveNewton::Preconditioner::factor(const AdditiveNewton& problem, double lam,
                                            const std::vector<double>& gram, double scale) {
    const int64_t size = rows_.parameters(), stride = Cholesky::stride_of(size);
    std::vector<double> matrix(gram.size());
    for (size_t i = 0; i < matrix.size(); ++i) matrix[i] = scale * gram[i];
    for (int64_t i = 0; i < size; ++i) {
        const double link = lam * problem.link_[i];
        matrix[i * stride + i] += lam * problem.penalty_[i] + link + 1e-9;
        if (link == 0) continue;
        matrix[(i + 1) * stride + i + 1] += link;
        matrix[i * stride + i + 1] -= link;
    }
    if (is_pooled()) matrix = pooled(matrix);
    factors_.push_back(std::make_unique<Cholesky>(pools_.size(), matrix));
}

std::vector<double> AdditiveNewton::Preconditioner::pooled(
    const std::vector<double>& matrix) const {
    const int64_t size = rows_.parameters(), stride = Cholesky::stride_of(size),
                  own = Cholesky::stride_of(pools_.size());
    std::vector<double> out(pools_.size() * own);
    for (int64_t i = 0; i < size; ++i) {
        if (pools_[i] < 0) continue;
        double* row = &out[pools_[i] * own];
        for (int64_t j = i; j < size; ++j) {
            if (pools_[j] < 0) continue;
            // Within a pool the other half of the matrix counts as well.
            const double times = j > i && pools_[j] == pools_[i] ? 2.0 : 1.0;
            row[pools_[j]] += times * matrix[i * stride + j];
        }
    }
    return out;
}

// Neighbours only: L D L', kept as the inverse of D and what stands below the diagonal of L.
void AdditiveNewton::Preconditioner::make_bands(const AdditiveNewton& problem, double lam,
                                                const float* p) {
    const int64_t length = rows_.length();
    const int pad = rows_.pad();
    diagonal_.resize(length);
    beside_.resize(length);
    rows_.bands(p, diagonal_.data(), beside_.data());
    for (int64_t i = 0; i < rows_.parameters(); ++i)
        for (int c = 0; c < pad; ++c) {
            const double link = lam * problem.link_[i];
            diagonal_[i * pad + c] += lam * problem.penalty_[i] + link + 1e-9;
            beside_[i * pad + c] -= link;
            if (link > 0) diagonal_[(i + 1) * pad + c] += link;
        }
    for (int c = 0; c < pad; ++c) diagonal_[length - pad + c] += problem.hold_[c];
    if (is_pooled()) pool_bands();
    factor_bands();
}

void AdditiveNewton::Preconditioner::pool_bands() {
    std::vector<double> diagonal(pools_.size()), beside(pools_.size());
    for (int64_t i = 0; i < rows_.parameters(); ++i) {
        if (pools_[i] < 0) continue;
        diagonal[pools_[i]] += diagonal_[i];
        if (i + 1 == rows_.parameters() || pools_[i + 1] < 0) continue;
        if (pools_[i + 1] == pools_[i])
            diagonal[pools_[i]] += 2 * beside_[i];
        else
            beside[pools_[i]] = beside_[i];
    }
    diagonal_.swap(diagonal);
    beside_.swap(beside);
}

void AdditiveNewton::Preconditioner::factor_bands() {
    const int64_t length = diagonal_.size();
    const int pad = rows_.pad();
    for (int64_t i = 0; i < length; ++i) {
        if (i >= pad) {
            const double left =
                diagonal_[i] - beside_[i - pad] * beside_[i - pad] * diagonal_[i - pad];
            diagonal_[i] = std::max(left, 1e-12 * diagonal_[i]);
            beside_[i - pad] *= diagonal_[i - pad];
        }
        diagonal_[i] = 1.0 / diagonal_[i];
    }
}

}  // namespace lessnaive
