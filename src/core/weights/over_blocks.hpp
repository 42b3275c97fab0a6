// Passes over the blocks of packed rows, cut into tasks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/parallel.hpp"
#include "weights/evidence.hpp"
#include "weights/evidence_pass.hpp"

namespace lessnaive {

// Rows are cut into at most this many tasks, each with a gradient of its own.
constexpr int64_t kMostBlockTasks = 64;
constexpr int64_t kLeastBlocks = 16;

struct BlockTasks {
    int64_t count, blocks_each;
};

inline BlockTasks tasks_of(const Evidence& evidence) {
    const int64_t blocks = static_cast<int64_t>(evidence.blocks().size());
    const int64_t each = std::max(kLeastBlocks, (blocks + kMostBlockTasks - 1) / kMostBlockTasks);
    return {(blocks + each - 1) / each, each};
}

// Calls work(task, block) for the blocks of each task in order, with a pass of its own.
template <class Work>
void over_blocks(const Evidence& evidence, const double* weights, Work&& work) {
    const BlockTasks tasks = tasks_of(evidence);
    const int64_t blocks = static_cast<int64_t>(evidence.blocks().size());
    // Many short passes: threads must be worth waking each time.
    const int64_t cells = evidence.rows() * (evidence.columns() + 1) / 4;
    parallel_for(tasks.count, cells, [&](int64_t task) {
        EvidencePass pass(evidence, weights);
        const int64_t end = std::min(blocks, (task + 1) * tasks.blocks_each);
        for (int64_t b = task * tasks.blocks_each; b < end; ++b)
            work(task, pass, evidence.blocks()[b]);
    });
}

// out (classes, columns) = the sum of the tasks' gradients (tasks, columns in order of work, pad).
inline void sum_gradients(const Evidence& evidence, std::vector<double>& parts, double* out) {
    const int columns = evidence.columns(), classes = evidence.classes(), pad = evidence.pad();
    const size_t size = static_cast<size_t>(columns) * pad;
    for (size_t part = size; part < parts.size(); part += size)
        for (size_t i = 0; i < size; ++i) parts[i] += parts[part + i];
    const size_t coded = evidence.coded().size(), slots = coded + evidence.curves().size();
    std::fill_n(out, static_cast<int64_t>(classes) * columns, 0.0);
    for (size_t slot = 0; slot < slots; ++slot) {
        const int64_t place =
            slot < coded ? evidence.coded()[slot].place : evidence.curves()[slot - coded].place;
        for (int c = 0; c < classes; ++c)
            out[c * columns + place] = parts.empty() ? 0.0 : parts[slot * pad + c];
    }
}

}  // namespace lessnaive
