#include "weights/grams.hpp"

#include <algorithm>
#include <vector>

#include "base/simd.hpp"
#include "weights/chunk_evidence.hpp"
#include "weights/chunks.hpp"
#include "weights/over_blocks.hpp"

namespace lessnaive {
namespace {

// norms = max(norms, sum_j a_j^2), row by row.
LESSNAIVE_WIDE void raise_norms(const std::vector<const double*>& a, int rows, double* squares,
                                double* norms) {
    std::fill_n(squares, rows, 0.0);
    for (const double* column : a)
        for (int k = 0; k < rows; ++k) squares[k] += column[k] * column[k];
    for (int k = 0; k < rows; ++k) norms[k] = std::max(norms[k], squares[k]);
}

std::vector<Chunk> all_chunks(const Evidence& evidence) {
    return chunks_of(evidence, place_of_whole(evidence), {evidence.rows(), 0});
}

// The lower triangles of `count` matrices become like the upper ones.
void mirror(double* matrices, int64_t count, int64_t size) {
    for (double* out = matrices; out < matrices + count * size * size; out += size * size)
        for (int64_t i = 0; i < size; ++i)
            for (int64_t k = i; k < size; ++k) out[k * size + i] = out[i * size + k];
}

}  // namespace

double gram_matrices(const Evidence& evidence, double* grams) {
    const std::vector<Chunk> chunks = all_chunks(evidence);
    const int64_t n_chunks = static_cast<int64_t>(chunks.size());
    const std::vector<int64_t> places = evidence.places();
    const int classes = evidence.classes(), columns = static_cast<int>(places.size());
    const int64_t each = static_cast<int64_t>(columns) * columns;
    const int64_t cells = evidence.rows() * columns * classes;
    std::vector<double> largest(kMostChunkTasks, 0.0);
    sum_over_chunks(n_chunks, classes * each, cells, grams,
                    [&](double* part, int64_t task, int64_t first, int64_t end) {
                        ChunkEvidence chunk(evidence);
                        Products products(columns);
                        std::vector<const double*> a(columns);
                        std::vector<double> q(kChunkRows), norms(kChunkRows), squares(kChunkRows);
                        for (int64_t i = first; i < end; ++i) {
                            const int length = chunks[i].length();
                            chunk.load(chunks[i]);
                            std::fill(q.begin(), q.end(), 0.0);
                            std::fill(norms.begin(), norms.end(), 0.0);
                            for (size_t k = 0; k < chunks[i].rows.size(); ++k)
                                q[k] = chunk.weight(chunks[i], static_cast<int>(k));
                            for (int c = 0; c < classes; ++c) {
                                for (int j = 0; j < columns; ++j) a[j] = chunk.at(c, places[j]);
                                products.add(a, a, evidence.weights() ? q.data() : nullptr, length,
                                             true, part + c * each, columns);
                                raise_norms(a, length, squares.data(), norms.data());
                            }
                            for (int k = 0; k < length; ++k) largest[task] += q[k] * norms[k];
                        }
                    });
    mirror(grams, classes, columns);
    double sum = 0;
    for (double part : largest) sum += part;
    return sum;
}

void gram_products(const Evidence& evidence, const double* v, double* out) {
    const int pad = evidence.pad();
    const int64_t size = static_cast<int64_t>(evidence.columns()) * pad;
    std::vector<double> parts(tasks_of(evidence).count * size, 0.0);
    over_blocks(evidence, v, [&](int64_t task, EvidencePass& pass, const Block& block) {
        pass.score(block, false);
        for (int k = 0; evidence.weights() && k < block.count; ++k)
            for (int c = 0; c < pad; ++c)
                pass.scores()[k * pad + c] *= evidence.weights()[block.first + k];
        pass.add_gradient(block, parts.data() + task * size);
    });
    sum_gradients(evidence, parts, out);
}

double squared_norms(const Evidence& evidence, bool summed) {
    const std::vector<Chunk> chunks = all_chunks(evidence);
    const std::vector<int64_t> places = evidence.places();
    const int64_t cells = evidence.rows() * evidence.classes() * places.size();
    double out = 0;
    sum_over_chunks(static_cast<int64_t>(chunks.size()), 1, cells, &out,
                    [&](double* sum, int64_t, int64_t first, int64_t end) {
                        ChunkEvidence chunk(evidence);
                        std::vector<const double*> a(places.size());
                        std::vector<double> norms(kChunkRows), squares(kChunkRows);
                        for (int64_t i = first; i < end; ++i) {
                            chunk.load(chunks[i]);
                            std::fill(norms.begin(), norms.end(), 0.0);
                            for (int c = 0; c < evidence.classes(); ++c) {
                                for (size_t j = 0; j < a.size(); ++j) a[j] = chunk.at(c, places[j]);
                                raise_norms(a, chunks[i].length(), squares.data(), norms.data());
                                for (size_t k = 0; summed && k < chunks[i].rows.size(); ++k)
                                    *sum +=
                                        chunk.weight(chunks[i], static_cast<int>(k)) * squares[k];
                            }
                            for (size_t k = 0; !summed && k < chunks[i].rows.size(); ++k)
                                *sum += chunk.weight(chunks[i], static_cast<int>(k)) * norms[k];
                        }
                    });
    return out;
}

void class_curvatures(const Evidence& evidence, const double* probabilities, bool tied,
                      int64_t width, double* out) {
    const std::vector<Chunk> chunks = all_chunks(evidence);
    const std::vector<int64_t> places = evidence.places();
    const int64_t columns = static_cast<int64_t>(places.size());
    const int64_t groups = (columns + width - 1) / width, each = width * width;
    const int classes = evidence.classes(), pad = evidence.pad();
    const int64_t cells = evidence.rows() * columns * classes, blocks = tied ? 1 : classes;
    sum_over_chunks(
        static_cast<int64_t>(chunks.size()), groups * blocks * each, cells, out,
        [&](double* part, int64_t, int64_t first, int64_t end) {
            ChunkEvidence chunk(evidence);
            Products products(width);
            std::vector<const double*> a;
            std::vector<double> q(kChunkRows);
            for (int64_t i = first; i < end; ++i) {
                const double* p = probabilities + chunks[i].rows.front() * pad;
                chunk.load(chunks[i]);
                for (size_t j = 0; tied && j < places.size(); ++j)
                    chunk.subtract_mean(chunks[i], places[j], p);
                for (int c = 0; c < classes; ++c) {
                    std::fill(q.begin(), q.end(), 0.0);
                    for (size_t k = 0; k < chunks[i].rows.size(); ++k) {
                        const double own = p[k * pad + c];
                        q[k] = chunk.weight(chunks[i], static_cast<int>(k)) * own;
                        if (!tied) q[k] *= 1 - own;
                    }
                    for (int64_t g = 0; g < groups; ++g) {
                        a.clear();
                        for (int64_t j = g * width; j < std::min(columns, (g + 1) * width); ++j)
                            a.push_back(chunk.at(c, places[j]));
                        products.add(a, a, q.data(), chunks[i].length(), true,
                                     part + (g * blocks + (tied ? 0 : c)) * each, width);
                    }
                }
            }
        });
    mirror(out, groups * blocks, width);
}

}  // namespace lessnaive
