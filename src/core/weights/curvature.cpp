#include "weights/curvature.hpp"

#include <algorithm>

#include "weights/chunk_evidence.hpp"
#include "weights/evidence_pass.hpp"

namespace lessnaive {
namespace {

constexpr int kRows = kChunkRows;
// With fewer chosen weights for each class, picking rows costs more than it saves.
constexpr int64_t kFewVectors = 9;

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
          pass_(evidence, weights),
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
        if (!chunk.are_neighbours())
            return chunk_.probabilities(chunk, weights_, p_.data(), log_own_.data());
        const int count = static_cast<int>(chunk.rows.size());
        const Block block{chunk.rows.front(), count, chunk.label};
        pass_.score(block, true);
        pass_.probabilities(block);
        std::copy_n(pass_.scores(), int64_t{count} * evidence_.pad(), p_.begin());
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
        for (int64_t j : chosen_) chunk_.subtract_mean(chunk, j, p_.data());
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
    EvidencePass pass_;
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

// As curvature_of_part, for weights of columns that say something.
double curvature_of_useful(const Evidence& part, const PlaceInWhole& place, const double* weights,
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
    sum_over_chunks(n_chunks, size * size, cells, out,
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

}  // namespace

double curvature_of_part(const Evidence& part, const PlaceInWhole& place, const double* weights,
                         LossKind loss, bool tied, const std::vector<int64_t>& chosen,
                         RowSample sample, double* out) {
    const std::vector<int64_t> places = part.places();
    const int64_t size = static_cast<int64_t>(chosen.size());
    std::vector<int64_t> useful, at;  // and where they are among those chosen
    for (int64_t i = 0; i < size; ++i) {
        if (!std::binary_search(places.begin(), places.end(), chosen[i] % part.columns())) continue;
        useful.push_back(chosen[i]);
        at.push_back(i);
    }
    const int64_t count = static_cast<int64_t>(useful.size());
    if (count == size)
        return curvature_of_useful(part, place, weights, loss, tied, chosen, sample, out);
    std::vector<double> found(count * count);
    const double looked_at =
        curvature_of_useful(part, place, weights, loss, tied, useful, sample, found.data());
    std::fill_n(out, size * size, 0.0);
    for (int64_t i = 0; i < count; ++i)
        for (int64_t k = 0; k < count; ++k) out[at[i] * size + at[k]] = found[i * count + k];
    return looked_at;
}

void curvature(const Evidence& evidence, const double* weights, LossKind loss, bool tied,
               const std::vector<int64_t>& chosen, RowSample sample, double* out) {
    const double looked_at = curvature_of_part(evidence, place_of_whole(evidence), weights, loss,
                                               tied, chosen, sample, out);
    const double scale = looked_at > 0 ? evidence.total_weight() / looked_at : 1.0;
    for (size_t i = 0; i < chosen.size() * chosen.size(); ++i) out[i] *= scale;
}

}  // namespace lessnaive
