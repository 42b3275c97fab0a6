#include "weights/curvature.hpp"

#include <algorithm>
#include <cmath>

#include "base/dots.hpp"
#include "base/interrupt.hpp"
#include "base/padding.hpp"
#include "base/parallel.hpp"
#include "table/softmax.hpp"

namespace lessnaive {
namespace {

// Rows at a time: their evidence for all classes and columns should stay in the cache.
constexpr int kRows = 128;
// Between vectors over these rows: not a power of two, lest those of all classes share a few lines
// of the cache.
constexpr int kStride = kRows + 8;
// With fewer chosen weights for each class, picking rows costs more than it saves.
constexpr int64_t kFewVectors = 9;
constexpr int64_t kMostTasks = 16;
// Chunks of a task at the least: adding up its part costs as much as some rows.
constexpr int64_t kFewestChunks = 8;
// Room for the partial results of all tasks.
constexpr int64_t kMostBytes = int64_t{1} << 27;

uint64_t mixed(uint64_t x) {  // splitmix64
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

// Rows of one label, not necessarily neighbours.
struct Chunk {
    std::vector<int64_t> rows;
    int label;

    // Of vectors over the rows, with zeros at the end.
    int length() const { return static_cast<int>(rows.size() + 3) / 4 * 4; }

    // A sample may hold a row twice.
    bool are_neighbours() const {
        return std::adjacent_find(rows.begin(), rows.end(), [](int64_t one, int64_t next) {
                   return next != one + 1;
               }) == rows.end();
    }
};

// The rows of a sample, of which the places increase.
class SampledRows {
  public:
    SampledRows(RowSample sample, int64_t rows)
        : rows_(rows), wanted_(std::min(rows, sample.rows)), seed_(sample.seed) {}

    int64_t count() const { return wanted_; }

    int64_t row(int64_t i) const {
        if (wanted_ == rows_) return i;
        const double jitter = static_cast<double>(mixed(seed_ + i) >> 11) * 0x1p-53;
        const double at = (static_cast<double>(i) + jitter) * static_cast<double>(rows_) /
                          static_cast<double>(wanted_);
        return std::min(rows_ - 1, static_cast<int64_t>(at));
    }

    // The first that is at `row` or behind it.
    int64_t first_from(int64_t row) const {
        const double near = static_cast<double>(row) * static_cast<double>(wanted_) /
                            static_cast<double>(std::max<int64_t>(1, rows_));
        int64_t i = std::clamp<int64_t>(static_cast<int64_t>(near) - 2, 0, wanted_);
        while (i < wanted_ && this->row(i) < row) ++i;
        return i;
    }

  private:
    int64_t rows_, wanted_;
    uint64_t seed_;
};

PlaceInWhole place_of_whole(const Evidence& evidence) {
    PlaceInWhole out{evidence.rows(), std::vector<int64_t>(evidence.classes(), 0)};
    // Blocks are in the order of their labels.
    for (auto block = evidence.blocks().rbegin(); block != evidence.blocks().rend(); ++block)
        out.starts[block->label] = block->first;
    return out;
}

std::vector<Chunk> chunks_of(const Evidence& evidence, const PlaceInWhole& place,
                             RowSample sample) {
    std::vector<Chunk> out;
    const SampledRows sampled(sample, place.rows);
    int label = -1;
    int64_t i = 0, shift = 0;  // the next sampled row; from places here to places in the whole
    for (const Block& block : evidence.blocks()) {
        if (block.label != label) {
            label = block.label;
            shift = place.starts[label] - block.first;
            i = sampled.first_from(place.starts[label]);
        }
        for (; i < sampled.count(); ++i) {
            const int64_t row = sampled.row(i) - shift;
            if (row >= block.first + block.count) break;
            if (out.empty() || out.back().label != label || out.back().rows.size() == kRows)
                out.push_back({{}, label});
            out.back().rows.push_back(row);
        }
    }
    return out;
}

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

// The evidence of a chunk, (pad, columns, kStride), with zeros behind its rows.
class ChunkEvidence {
  public:
    explicit ChunkEvidence(const Evidence& evidence)
        : evidence_(evidence),
          classes_(evidence.classes()),
          columns_(evidence.columns()),
          values_(static_cast<size_t>(evidence.pad()) * columns_ * kStride, 0.0),
          curve_(static_cast<size_t>(classes_) * kRows) {}

    double* at(int c, int64_t j) {
        return values_.data() + (static_cast<int64_t>(c) * columns_ + j) * kStride;
    }

    void load(const Chunk& chunk) {
        const int count = static_cast<int>(chunk.rows.size());
        const int behind = chunk.length() - count;
        for (int64_t i = 0; behind > 0 && i < int64_t{classes_} * columns_; ++i)
            std::fill_n(values_.data() + i * kStride + count, behind, 0.0);
        const bool neighbours = chunk.are_neighbours();
        for (const Evidence::Coded& coded : evidence_.coded()) {
            if (neighbours)
                expand_codes(coded, chunk.rows.front(), count, codes_);
            else
                pick_codes(coded, chunk.rows, codes_);
            const double* table = coded.table(chunk.label, evidence_.pad());
            const int64_t stride = static_cast<int64_t>(columns_) * kStride;
            with_padding(evidence_.pad(), [&](auto width) {
                spread<width()>(codes_, table, count, evidence_.pad(), stride, at(0, coded.place));
            });
        }
        for (const Evidence::Curve& curve : evidence_.curves()) {
            const int each = neighbours ? count : 1;
            for (int k = 0; k < count; k += each) {
                evidence_.curve_evidence(curve, chunk.label, chunk.rows[k], each, kRows,
                                         curve_.data());
                for (int c = 0; c < classes_; ++c)
                    std::copy_n(curve_.data() + c * kRows, each, at(c, curve.place) + k);
            }
        }
    }

    // out: (kRows, pad)
    void probabilities(const Chunk& chunk, const double* weights, double* out, double* log_own) {
        const int count = static_cast<int>(chunk.rows.size()), pad = evidence_.pad();
        for (int k = 0; k < count; ++k)
            std::copy_n(evidence_.intercept(chunk.label), pad, out + k * pad);
        for (int c = 0; c < classes_; ++c)
            for (int j = 0; j < columns_; ++j) {
                const double w = weights[c * columns_ + j];
                const double* e = at(c, j);
                for (int k = 0; k < count; ++k) out[k * pad + c] += w * e[k];
            }
        softmax_rows(out, count, classes_, pad, chunk.label, out, log_own);
    }

    double weight(const Chunk& chunk, int k) const {
        return evidence_.weights() ? evidence_.weights()[chunk.rows[k]] : 1.0;
    }

  private:
    const Evidence& evidence_;
    int classes_, columns_;
    std::vector<double> values_, curve_;
    uint32_t codes_[kRows];
};

// One task's part of a sum of products over chunks: H += A diag(q) B'.
class Products {
  public:
    explicit Products(int64_t most_vectors)
        : picked_(static_cast<size_t>(most_vectors) * kRows),
          scaled_(static_cast<size_t>(most_vectors) * kRows),
          a_(most_vectors),
          b_(most_vectors) {
        for (int64_t i = 0; i < most_vectors; ++i) {
            a_[i] = picked_.data() + i * kRows;
            b_[i] = scaled_.data() + i * kRows;
        }
    }
    // a_ and b_ point to other members.
    Products(const Products&) = delete;
    Products& operator=(const Products&) = delete;

    // out[i * stride + k] += sum over `length` rows of a[i] q b[k], where q is 1 if it is null; if
    // `half`, only for k >= i.
    void add(const std::vector<const double*>& a, const std::vector<const double*>& b,
             const double* q, int length, bool half, double* out, int64_t stride) {
        poll();
        if (q)
            for (size_t i = 0; i < b.size(); ++i)
                for (int k = 0; k < length; ++k) scaled_[i * kRows + k] = b[i][k] * q[k];
        const double* const* right = q ? b_.data() : b.data();
        add_dots(a.data(), a.size(), right, b.size(), length, half, out, stride);
    }

    // The same for `count` rows at the places `rows` only, where q is in this order.
    void add_some(const std::vector<const double*>& a, const std::vector<const double*>& b,
                  const uint8_t* rows, const double* q, int count, bool half, double* out,
                  int64_t stride) {
        poll();
        const int length = (count + 3) / 4 * 4;
        for (size_t i = 0; i < a.size(); ++i) {
            double* to = picked_.data() + i * kRows;
            for (int k = 0; k < count; ++k) to[k] = a[i][rows[k]];
            std::fill(to + count, to + length, 0.0);
        }
        for (size_t i = 0; i < b.size(); ++i) {
            double* to = scaled_.data() + i * kRows;
            for (int k = 0; k < count; ++k) to[k] = b[i][rows[k]] * q[k];
            std::fill(to + count, to + length, 0.0);
        }
        add_dots(a_.data(), a.size(), b_.data(), b.size(), length, half, out, stride);
    }

  private:
    std::vector<double> picked_, scaled_;
    std::vector<const double*> a_, b_;
};

class CurvatureTask {
  public:
    CurvatureTask(const Evidence& evidence, const double* weights, LossKind loss, bool tied,
                  const std::vector<int64_t>& chosen, const std::vector<double>& negligible,
                  double* out)
        : evidence_(evidence),
          weights_(weights),
          loss_(loss),
          negligible_(negligible),
          chosen_(chosen),
          size_(static_cast<int64_t>(chosen.size())),
          out_(out),
          chunk_(evidence),
          products_(size_),
          p_(kRows * evidence.pad()),
          log_own_(kRows),
          q_(kRows),
          weight_(kRows),
          squares_(kRows),
          turned_(static_cast<size_t>(evidence.classes()) * kRows),
          likely_(evidence.classes()),
          largest_(evidence.classes()),
          diagonal_(static_cast<size_t>(evidence.classes()) * kRows) {
        const int columns = evidence.columns();
        by_class_.resize(evidence.classes());
        first_.assign(evidence.classes() + 1, 0);
        if (tied) {
            for (auto& list : by_class_)
                for (int64_t j : chosen) list.push_back(j);
        } else {
            for (int64_t i : chosen) by_class_[i / columns].push_back(i % columns);
            for (int c = 0; c < evidence.classes(); ++c)
                first_[c + 1] = first_[c] + static_cast<int64_t>(by_class_[c].size());
        }
        tied_ = tied;
    }

    void add(const Chunk& chunk) {
        load(chunk);
        if (tied_)
            add_tied(chunk);
        else
            add_by_class(chunk);
    }

  private:
    void load(const Chunk& chunk) {
        chunk_.load(chunk);
        chunk_.probabilities(chunk, weights_, p_.data(), log_own_.data());
    }

    std::vector<const double*> vectors(int c) {
        std::vector<const double*> out;
        for (int64_t j : by_class_[c]) out.push_back(chunk_.at(c, j));
        return out;
    }

    // q: the second derivatives of the loss of each row by the scores of classes c and d, times its
    // weight: for the log loss of J = diag(p) - p p', for the squared loss of J J.
    void between(int c, int d, int length) {
        const double same = c == d ? 1.0 : 0.0;
        const double *one = by_row(c), *other = by_row(d);
        const double *weight = weight_.data(), *squares = squares_.data();
        double* q = q_.data();
        if (loss_ == LossKind::log)
            for (int k = 0; k < length; ++k) q[k] = weight[k] * one[k] * (same - other[k]);
        else
            for (int k = 0; k < length; ++k)
                q[k] = weight[k] * one[k] *
                       (one[k] * (same - other[k]) + other[k] * (squares[k] - other[k]));
    }

    // The probabilities of a class, row by row.
    double* by_row(int c) { return turned_.data() + int64_t{c} * kRows; }

    // Puts probabilities and weights of rows in vectors, with zeros at their end.
    void turn(const Chunk& chunk) {
        const int count = static_cast<int>(chunk.rows.size()), pad = evidence_.pad();
        std::fill(weight_.begin(), weight_.end(), 0.0);
        std::fill(squares_.begin(), squares_.end(), 0.0);
        for (int k = 0; k < count; ++k) weight_[k] = chunk_.weight(chunk, k);
        for (int c = 0; c < evidence_.classes(); ++c) {
            double* to = by_row(c);
            for (int k = 0; k < count; ++k) {
                to[k] = p_[k * pad + c];
                squares_[k] += to[k] * to[k];
            }
            std::fill(to + count, to + chunk.length(), 0.0);
        }
    }

    void add_by_class(const Chunk& chunk) {
        turn(chunk);
        if (!negligible_.empty()) return add_likely(chunk);
        for (int c = 0; c < evidence_.classes(); ++c) {
            if (by_class_[c].empty()) continue;
            const auto a = vectors(c);
            for (int d = c; d < evidence_.classes(); ++d) {
                if (by_class_[d].empty()) continue;
                between(c, d, chunk.length());
                products_.add(a, vectors(d), q_.data(), chunk.length(), c == d, block(c, d), size_);
            }
        }
    }

    // The same for those pairs of classes only that have to do with each other, row by row. Without
    // a pair, its part of the diagonal is left out too.
    void add_likely(const Chunk& chunk) {
        list_likely(chunk);
        std::fill(diagonal_.begin(), diagonal_.end(), 0.0);
        for (int c = 0; c < evidence_.classes(); ++c) {
            const auto a = vectors(c);
            for (int d = c + 1; d < evidence_.classes(); ++d) {
                if (a.empty() && by_class_[d].empty()) continue;
                const int count = pick(c, d);
                if (!a.empty() && !by_class_[d].empty())
                    add_picked(a, vectors(d), count, chunk.length(), false, block(c, d));
            }
            if (a.empty()) continue;
            const double* q = diagonal_.data() + int64_t{c} * kRows;
            int count = 0;
            for (int k = 0; k < chunk.length(); ++k) {
                places_[count] = static_cast<uint8_t>(k);
                q_[count] = q[k];
                count += q[k] > 0;
            }
            add_picked(a, a, count, chunk.length(), true, block(c, c));
        }
    }

    // Picking takes longer than the products with a few vectors, unless it leaves out many rows.
    void add_picked(const std::vector<const double*>& a, const std::vector<const double*>& b,
                    int count, int length, bool half, double* out) {
        if (count == 0) return;
        if (2 * count < length)
            return products_.add_some(a, b, places_, q_.data(), count, half, out, size_);
        double all[kRows] = {};
        for (int k = 0; k < count; ++k) all[places_[k]] = q_[k];
        products_.add(a, b, all, length, half, out, size_);
    }

    void list_likely(const Chunk& chunk) {
        const int count = static_cast<int>(chunk.rows.size());
        for (int c = 0; c < evidence_.classes(); ++c) {
            const double* p = by_row(c);
            largest_[c] = *std::max_element(p, p + count);
            likely_[c].clear();
            for (int k = 0; k < count && largest_[c] > negligible_[c]; ++k)
                if (p[k] > negligible_[c]) likely_[c].push_back(static_cast<uint8_t>(k));
        }
    }

    // Rows in which two classes have to do with each other: their number, places and q.
    int pick(int c, int d) {
        const double negligible = std::min(negligible_[c], negligible_[d]);
        if (largest_[c] * largest_[d] <= negligible) return 0;
        const double *one = by_row(c), *other = by_row(d);
        double *by_one = diagonal_.data() + int64_t{c} * kRows,
               *by_other = diagonal_.data() + int64_t{d} * kRows;
        // A row between the two is likely by the class that asks for less.
        const auto& fewer = likely_[negligible_[c] < negligible_[d] ? c : d];
        int count = 0;
        for (uint8_t k : fewer) {
            const double product = one[k] * other[k];
            if (product <= negligible) continue;
            const double q = weight_[k] * product;
            by_one[k] += q;
            by_other[k] += q;
            places_[count] = k;
            q_[count++] = -q;
        }
        return count;
    }

    double* block(int c, int d) { return out_ + first_[c] * size_ + first_[d]; }

    // With shared weights: sum_c q_c (e_c - mean)(e_c - mean)', the mean by probability, where
    // q = p for the log loss and p^2 for the squared loss.
    void add_tied(const Chunk& chunk) {
        const int count = static_cast<int>(chunk.rows.size()), pad = evidence_.pad();
        for (int64_t j : chosen_) {
            for (int k = 0; k < count; ++k) {
                double mean = 0;
                for (int c = 0; c < evidence_.classes(); ++c)
                    mean += p_[k * pad + c] * chunk_.at(c, j)[k];
                for (int c = 0; c < evidence_.classes(); ++c) chunk_.at(c, j)[k] -= mean;
            }
        }
        for (int c = 0; c < evidence_.classes(); ++c) {
            std::fill(q_.begin(), q_.end(), 0.0);
            for (int k = 0; k < count; ++k) {
                const double p = p_[k * pad + c];
                q_[k] = chunk_.weight(chunk, k) * (loss_ == LossKind::log ? p : p * p);
            }
            const auto a = vectors(c);
            products_.add(a, a, q_.data(), chunk.length(), true, out_, size_);
        }
    }

    const Evidence& evidence_;
    const double* weights_;
    LossKind loss_;
    const std::vector<double>& negligible_;  // of each class, or none
    bool tied_;
    const std::vector<int64_t>& chosen_;
    int64_t size_;
    double* out_;
    ChunkEvidence chunk_;
    Products products_;
    std::vector<std::vector<int64_t>> by_class_;
    std::vector<int64_t> first_;
    std::vector<double> p_, log_own_, q_, weight_, squares_, turned_;
    // Of each class: rows that may well be of it, and its largest probability.
    std::vector<std::vector<uint8_t>> likely_;
    std::vector<double> largest_;
    std::vector<double> diagonal_;  // (classes, kRows): q of each class with itself
    uint8_t places_[kRows];
};

// Of the weight of all rows, what each class has.
std::vector<double> shares_of(const Evidence& evidence) {
    std::vector<double> out(evidence.classes(), 0.0);
    for (const Block& block : evidence.blocks())
        for (int k = 0; k < block.count; ++k)
            out[block.label] += evidence.weights() ? evidence.weights()[block.first + k] : 1.0;
    for (double& each : out) each /= evidence.total_weight();
    return out;
}

// Calls work(task, chunk range) with room for `size` numbers for each task, and adds the parts up.
template <class Work>
void summed(int64_t chunks, int64_t size, int64_t cells, double* out, Work&& work) {
    const int64_t bytes = std::max<int64_t>(1, size) * static_cast<int64_t>(sizeof(double));
    const int64_t most = std::clamp<int64_t>(kMostBytes / bytes, 1, kMostTasks);
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

}  // namespace

double curvature_of_part(const Evidence& part, const PlaceInWhole& place, const double* weights,
                         LossKind loss, bool tied, const std::vector<int64_t>& chosen,
                         RowSample sample, double* out) {
    const std::vector<Chunk> chunks = chunks_of(part, place, sample);
    const int64_t n_chunks = static_cast<int64_t>(chunks.size());
    const int64_t size = static_cast<int64_t>(chosen.size());
    const int64_t cells = n_chunks * kRows * size * (tied ? part.classes() : 1);
    std::vector<double> negligible;
    if (sample.negligible > 0 && loss == LossKind::log && !tied &&
        size >= kFewVectors * part.classes())
        negligible = shares_of(part);
    for (double& each : negligible) each *= sample.negligible;
    summed(n_chunks, size * size, cells, out,
           [&](double* sum, int64_t, int64_t first, int64_t end) {
               CurvatureTask task(part, weights, loss, tied, chosen, negligible, sum);
               for (int64_t i = first; i < end; ++i) task.add(chunks[i]);
           });
    for (int64_t i = 0; i < size; ++i)
        for (int64_t k = i; k < size; ++k) out[k * size + i] = out[i * size + k];
    double looked_at = 0;
    for (const Chunk& chunk : chunks)
        for (int64_t row : chunk.rows) looked_at += part.weights() ? part.weights()[row] : 1;
    return looked_at;
}

void curvature(const Evidence& evidence, const double* weights, LossKind loss, bool tied,
               const std::vector<int64_t>& chosen, RowSample sample, double* out) {
    const double looked_at = curvature_of_part(evidence, place_of_whole(evidence), weights, loss,
                                               tied, chosen, sample, out);
    const double scale = looked_at > 0 ? evidence.total_weight() / looked_at : 1.0;
    for (size_t i = 0; i < chosen.size() * chosen.size(); ++i) out[i] *= scale;
}

// norms = max(norms, sum_j a_j^2), row by row.
LESSNAIVE_WIDE static void raise_norms(const std::vector<const double*>& a, int rows,
                                       double* squares, double* norms) {
    std::fill_n(squares, rows, 0.0);
    for (const double* column : a)
        for (int k = 0; k < rows; ++k) squares[k] += column[k] * column[k];
    for (int k = 0; k < rows; ++k) norms[k] = std::max(norms[k], squares[k]);
}

double gram_matrices(const Evidence& evidence, double* grams) {
    const std::vector<Chunk> chunks =
        chunks_of(evidence, place_of_whole(evidence), {evidence.rows(), 0});
    const int64_t n_chunks = static_cast<int64_t>(chunks.size());
    const std::vector<int64_t> places = evidence.places();
    const int classes = evidence.classes(), columns = static_cast<int>(places.size());
    const int64_t each = static_cast<int64_t>(columns) * columns;
    const int64_t cells = evidence.rows() * columns * classes;
    std::vector<double> largest(kMostTasks, 0.0);
    summed(n_chunks, classes * each, cells, grams,
           [&](double* part, int64_t task, int64_t first, int64_t end) {
               ChunkEvidence chunk(evidence);
               Products products(columns);
               std::vector<const double*> a(columns);
               std::vector<double> q(kRows), norms(kRows), squares(kRows);
               for (int64_t i = first; i < end; ++i) {
                   chunk.load(chunks[i]);
                   std::fill(q.begin(), q.end(), 0.0);
                   std::fill(norms.begin(), norms.end(), 0.0);
                   for (size_t k = 0; k < chunks[i].rows.size(); ++k)
                       q[k] = chunk.weight(chunks[i], static_cast<int>(k));
                   for (int c = 0; c < classes; ++c) {
                       for (int j = 0; j < columns; ++j) a[j] = chunk.at(c, places[j]);
                       products.add(a, a, evidence.weights() ? q.data() : nullptr,
                                    chunks[i].length(), true, part + c * each, columns);
                       raise_norms(a, chunks[i].length(), squares.data(), norms.data());
                   }
                   for (int k = 0; k < chunks[i].length(); ++k) largest[task] += q[k] * norms[k];
               }
           });
    for (int c = 0; c < classes; ++c)
        for (int i = 0; i < columns; ++i)
            for (int k = i; k < columns; ++k)
                grams[c * each + k * columns + i] = grams[c * each + i * columns + k];
    double sum = 0;
    for (double part : largest) sum += part;
    return sum;
}

}  // namespace lessnaive
