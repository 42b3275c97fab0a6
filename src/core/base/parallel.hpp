// Threads. Results never depend on how many there are: work is cut into tasks by the shape of the
// data alone, every task writes to its own place, and partial results are merged in task order.
#pragma once

#include <cstdint>
#include <exception>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "base/interrupt.hpp"

namespace lessnaive {

inline int max_threads() {
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
}

// Sets the number of threads of what the calling thread starts from now on; returns that before.
inline int set_threads(int count) {
#ifdef _OPENMP
    const int before = omp_get_max_threads();
    omp_set_num_threads(count);
    return before;
#else
    (void)count;
    return 1;
#endif
}

// Below this many table cells starting threads costs more than it saves.
constexpr int64_t kParallelCells = 1 << 16;

// An exception in a task (memory may run out, or the work be stopped) is thrown again when all
// tasks have ended; when work is stopped those that have not begun do not.
template <class Task>
inline void parallel_for(int64_t tasks, int64_t cells, Task&& task) {
    std::exception_ptr failure;
    const Work::Part caller = Work::here();
    const auto guarded = [&](int64_t t) noexcept {
        try {
            const bool is_caller = Work::here().work == caller.work && Work::here().started;
            const TakesPart part({caller.work, is_caller && caller.started});
            poll();
            task(t);
        } catch (...) {
#ifdef _OPENMP
#pragma omp critical(lessnaive_failure)
#endif
            failure = std::current_exception();
        }
    };
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic) if (tasks > 1 && cells >= kParallelCells)
#else
    (void)cells;
#endif
    for (int64_t t = 0; t < tasks; ++t) guarded(t);
    if (failure) std::rethrow_exception(failure);
}

}  // namespace lessnaive
