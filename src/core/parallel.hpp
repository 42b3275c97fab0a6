// Threads. Results never depend on how many there are: work is cut into tasks by the shape of the
// data alone, every task writes to its own place, and partial results are merged in task order.
#pragma once

#include <cstdint>
#ifdef _OPENMP
#include <omp.h>
#endif

namespace lessnaive {

inline int max_threads() {
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
}

// Below this many table cells starting threads costs more than it saves.
constexpr int64_t kParallelCells = 1 << 16;

template <class Task>
inline void parallel_for(int64_t tasks, int64_t cells, Task&& task) {
    const bool parallel = tasks > 1 && cells >= kParallelCells;
    (void)parallel;
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic) if (parallel)
#endif
    for (int64_t t = 0; t < tasks; ++t) task(t);
}

}  // namespace lessnaive
