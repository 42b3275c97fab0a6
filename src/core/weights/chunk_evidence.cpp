#include "weights/chunk_evidence.hpp"

#include "base/dots.hpp"
#include "base/interrupt.hpp"
#include "base/padding.hpp"
#include "base/simd.hpp"
#include "table/softmax.hpp"

namespace lessnaive {
namespace {

// out[c * stride + k] = table[codes[k]][c], for a table (., pad).
template <int kPad>
void spread(const uint32_t* codes, const double* table, int count, int pad, int64_t stride,
            double* out) {
    const int width = kPad > 0 ? kPad : pad;
    for (int k = 0; k < count; ++k) {
        const double* row = table + int64_t{codes[k]} * width;
        for (int c = 0; c < width; ++c) out[c * stride + k] = row[c];
    }
}

LESSNAIVE_WIDE void add_multiple(const double* from, double factor, int count, double* to) {
    for (int k = 0; k < count; ++k) to[k] += factor * from[k];
}

LESSNAIVE_WIDE void multiply(const double* a, const double* b, int count, double* to) {
    for (int k = 0; k < count; ++k) to[k] = a[k] * b[k];
}

}  // namespace

ChunkEvidence::ChunkEvidence(const Evidence& evidence)
    : evidence_(evidence),
      classes_(evidence.classes()),
      places_(evidence.places()),
      slots_(static_cast<int64_t>(places_.size()) + 1),
      slot_(evidence.columns(), slots_ - 1),
      values_(static_cast<size_t>(evidence.pad() * slots_ * kStride), 0.0),
      curve_(static_cast<size_t>(classes_) * kChunkRows),
      scores_(kChunkRows) {
    for (size_t i = 0; i < places_.size(); ++i) slot_[places_[i]] = static_cast<int64_t>(i);
}

void ChunkEvidence::load(const Chunk& chunk) {
    poll();
    const int count = static_cast<int>(chunk.rows.size());
    const int behind = chunk.length() - count;
    for (int64_t i = 0; behind > 0 && i < int64_t{classes_} * slots_; ++i)
        std::fill_n(values_.data() + i * kStride + count, behind, 0.0);
    const bool neighbours = chunk.are_neighbours();
    for (const Evidence::Coded& coded : evidence_.coded()) {
        if (neighbours)
            expand_codes(coded, chunk.rows.front(), count, codes_);
        else
            pick_codes(coded, chunk.rows, codes_);
        const double* table = coded.table(chunk.label, evidence_.pad());
        with_padding(evidence_.pad(), [&](auto width) {
            spread<width()>(codes_, table, count, evidence_.pad(), slots_ * kStride,
                            at(0, coded.place));
        });
    }
    for (const Evidence::Curve& curve : evidence_.curves()) {
        const int each = neighbours ? count : 1;
        for (int k = 0; k < count; k += each) {
            evidence_.curve_evidence(curve, chunk.label, chunk.rows[k], each, kChunkRows,
                                     curve_.data());
            for (int c = 0; c < classes_; ++c)
                std::copy_n(curve_.data() + c * kChunkRows, each, at(c, curve.place) + k);
        }
    }
}

void ChunkEvidence::probabilities(const Chunk& chunk, const double* weights, double* out,
                                  double* log_own) {
    const int count = static_cast<int>(chunk.rows.size()), pad = evidence_.pad();
    const double* intercept = evidence_.intercept(chunk.label);
    for (int k = 0; k < count; ++k) std::copy_n(intercept, pad, out + k * pad);
    for (int c = 0; c < classes_; ++c) {
        std::fill_n(scores_.begin(), count, intercept[c]);
        for (int64_t j : places_)
            add_multiple(at(c, j), weights[int64_t{c} * evidence_.columns() + j], count,
                         scores_.data());
        for (int k = 0; k < count; ++k) out[k * pad + c] = scores_[k];
    }
    softmax_rows(out, count, classes_, pad, chunk.label, out, log_own);
}

void ChunkEvidence::subtract_mean(const Chunk& chunk, int64_t j, const double* p) {
    const int pad = evidence_.pad();
    for (size_t k = 0; k < chunk.rows.size(); ++k) {
        double mean = 0;
        for (int c = 0; c < classes_; ++c) mean += p[k * pad + c] * at(c, j)[k];
        for (int c = 0; c < classes_; ++c) at(c, j)[k] -= mean;
    }
}

Products::Products(int64_t most_vectors)
    : picked_(static_cast<size_t>(most_vectors) * kChunkRows),
      scaled_(static_cast<size_t>(most_vectors) * kChunkRows),
      a_(most_vectors),
      b_(most_vectors) {
    for (int64_t i = 0; i < most_vectors; ++i) {
        a_[i] = picked_.data() + i * kChunkRows;
        b_[i] = scaled_.data() + i * kChunkRows;
    }
}

void Products::add(const std::vector<const double*>& a, const std::vector<const double*>& b,
                   const double* q, int length, bool half, double* out, int64_t stride) {
    if (q)
        for (size_t i = 0; i < b.size(); ++i)
            multiply(b[i], q, length, scaled_.data() + i * kChunkRows);
    const double* const* right = q ? b_.data() : b.data();
    add_dots(a.data(), a.size(), right, b.size(), length, half, out, stride);
}

void Products::add_some(const std::vector<const double*>& a, const std::vector<const double*>& b,
                        const uint8_t* rows, const double* q, int count, bool half, double* out,
                        int64_t stride) {
    const int length = (count + 3) / 4 * 4;
    for (size_t i = 0; i < a.size(); ++i) {
        double* to = picked_.data() + i * kChunkRows;
        for (int k = 0; k < count; ++k) to[k] = a[i][rows[k]];
        std::fill(to + count, to + length, 0.0);
    }
    for (size_t i = 0; i < b.size(); ++i) {
        double* to = scaled_.data() + i * kChunkRows;
        for (int k = 0; k < count; ++k) to[k] = b[i][rows[k]] * q[k];
        std::fill(to + count, to + length, 0.0);
    }
    add_dots(a_.data(), a.size(), b_.data(), b.size(), length, half, out, stride);
}

}  // namespace lessnaive
