#include <algorithm>

#include "base/parallel.hpp"
#include "binning/discretize.hpp"
#include "table/segments.hpp"

namespace lessnaive {

void digitize(const Column& column, const double* edges, int64_t edge_count, int64_t rows,
              uint32_t* codes) {
    constexpr int kBlock = 1024;
    constexpr int64_t kTaskRows = 64 * kBlock;
    parallel_for((rows + kTaskRows - 1) / kTaskRows, rows, [&](int64_t task) {
        double x[kBlock];
        int64_t below[kBlock];
        const int64_t end = std::min(rows, (task + 1) * kTaskRows);
        for (int64_t first = task * kTaskRows; first < end; first += kBlock) {
            const int count = static_cast<int>(std::min<int64_t>(kBlock, end - first));
            load_numbers(column, first, count, x);
            count_below(edges, edge_count, x, count, below);
            for (int k = 0; k < count; ++k)
                codes[first + k] = x[k] != x[k] ? 0 : static_cast<uint32_t>(1 + below[k]);
        }
    });
}

}  // namespace lessnaive
