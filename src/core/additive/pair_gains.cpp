#include "additive/pair_gains.hpp"

#include <algorithm>

#include "base/parallel.hpp"

namespace lessnaive {

void pair_gains(const std::vector<PairCodes>& columns,
                const std::vector<std::pair<int, int>>& pairs, const double* slopes,
                const double* bends, int64_t rows, int outputs, double* out) {
    const int64_t count = static_cast<int64_t>(pairs.size());
    parallel_for(count, count * rows * outputs, [&](int64_t t) {
        const PairCodes &a = columns[pairs[t].first], &b = columns[pairs[t].second];
        const int64_t cells = int64_t{a.size} * b.size;
        std::vector<double> sums(2 * cells * outputs, 0.0);
        if (outputs == 1)
            for (int64_t i = 0; i < rows; ++i) {
                double* cell = &sums[2 * (int64_t{a.codes[i]} * b.size + b.codes[i])];
                cell[0] += slopes[i];
                cell[1] += bends[i];
            }
        else
            for (int64_t i = 0; i < rows; ++i) {
                double* cell = &sums[2 * outputs * (int64_t{a.codes[i]} * b.size + b.codes[i])];
                const double *g = slopes + i * outputs, *h = bends + i * outputs;
                for (int c = 0; c < outputs; ++c) cell[c] += g[c];
                for (int c = 0; c < outputs; ++c) cell[outputs + c] += h[c];
            }
        double gain = 0;
        for (int64_t cell = 0; cell < cells; ++cell)
            for (int c = 0; c < outputs; ++c) {
                const double g = sums[2 * outputs * cell + c];
                const double h = sums[2 * outputs * cell + outputs + c];
                gain += (g * g - h) / (h + 1.0);
            }
        out[t] = gain;
    });
}

}  // namespace lessnaive
