// The evidence of a few rows side by side, and sums of products of it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/parallel.hpp"
#include "weights/chunks.hpp"
#include "weights/evidence.hpp"

namespace lessnaive {

// The evidence of a chunk, a vector over its rows for each class and column, with zeros behind.
class ChunkEvidence {
  public:
    explicit ChunkEvidence(const Evidence& evidence);

    // Of a column that says nothing, all are one vector of zeros.
    double* at(int c, int64_t j) {
        return values_.data() + (int64_t{c} * slots_ + slot_[j]) * kStride;
    }

    void load(const Chunk& chunk);
    // out: (kChunkRows, pad)
    void probabilities(const Chunk& chunk, const double* weights, double* out, double* log_own);

    // Takes the mean over the classes, by probabilities (kChunkRows, pad), off a column.
    void subtract_mean(const Chunk& chunk, int64_t j, const double* p);

    double weight(const Chunk& chunk, int k) const {
        return evidence_.weights() ? evidence_.weights()[chunk.rows[k]] : 1.0;
    }

  private:
    // Between vectors: not a power of two, lest those of all classes share a few lines of the
    // cache.
    static constexpr int kStride = kChunkRows + 8;

    const Evidence& evidence_;
    int classes_;
    std::vector<int64_t> places_;
    int64_t slots_;
    std::vector<int64_t> slot_;           // of each column, those that say nothing share the last
    std::vector<double> values_;          // (pad, slots, kStride)
    std::vector<double> curve_, scores_;  // (classes, kChunkRows)
    uint32_t codes_[kChunkRows];
};

// One task's part of a sum of products over chunks: H += A diag(q) B'.
class Products {
  public:
    explicit Products(int64_t most_vectors);
    // a_ and b_ point to other members.
    Products(const Products&) = delete;
    Products& operator=(const Products&) = delete;

    // out[i * stride + k] += sum over `length` rows of a[i] q b[k], where q is 1 if it is null; if
    // `half`, only for k >= i.
    void add(const std::vector<const double*>& a, const std::vector<const double*>& b,
             const double* q, int length, bool half, double* out, int64_t stride);
    // The same for `count` rows at the places `rows` only, where q is in this order.
    void add_some(const std::vector<const double*>& a, const std::vector<const double*>& b,
                  const uint8_t* rows, const double* q, int count, bool half, double* out,
                  int64_t stride);

  private:
    std::vector<double> picked_, scaled_;
    std::vector<const double*> a_, b_;
};

// Tasks that a sum over chunks is cut into at the most.
constexpr int64_t kMostChunkTasks = 16;

// Calls work(sum, task, first, end) for ranges of chunks, with room for `size` numbers for each
// task, and adds the parts up.
template <class Work>
void sum_over_chunks(int64_t chunks, int64_t size, int64_t cells, double* out, Work&& work) {
    // Adding up the part of a task costs as much as some rows.
    constexpr int64_t kFewestChunks = 8;
    // Room for the partial results of all tasks.
    constexpr int64_t kMostBytes = int64_t{1} << 27;
    const int64_t bytes = std::max<int64_t>(1, size) * static_cast<int64_t>(sizeof(double));
    const int64_t most = std::clamp<int64_t>(kMostBytes / bytes, 1, kMostChunkTasks);
    const int64_t each = std::max<int64_t>(kFewestChunks, (chunks + most - 1) / most);
    const int64_t tasks = (chunks + each - 1) / each;
    std::fill_n(out, size, 0.0);
    if (tasks == 1) return work(out, 0, 0, chunks);
    std::vector<double> parts(tasks * size, 0.0);
    parallel_for(tasks, cells, [&](int64_t task) {
        work(parts.data() + task * size, task, task * each, std::min(chunks, (task + 1) * each));
    });
    for (int64_t task = 0; task < tasks; ++task)
        for (int64_t i = 0; i < size; ++i) out[i] += parts[task * size + i];
}

}  // namespace lessnaive
