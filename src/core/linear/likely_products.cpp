#include "linear/likely_products.hpp"

#include <algorithm>
#include <numeric>

#include "base/dots.hpp"
#include "base/interrupt.hpp"

namespace lessnaive {
namespace {

using linear::kBlock;

// Cells that are copied before they are added up, and rows among which places are looked up.
constexpr int64_t kCells = int64_t{1} << 17, kPlaces = int64_t{1} << 16;
// Blocks of which a larger share of rows counts are not worth a copy.
constexpr double kMany = 0.6;
// Rows of inner products that stay in the cache.
constexpr int64_t kTogether = kBlock;

}  // namespace

LikelyProducts::LikelyProducts(const std::vector<Chosen>& chosen, int64_t size,
                               const Negligible& negligible, int64_t blocks)
    : chosen_(chosen),
      size_(size),
      negligible_(negligible),
      all_(chosen.size(), 0.0),
      left_out_(chosen.size(), 0.0),
      counted_(chosen.size()),
      found_(chosen.size(), std::vector<int32_t>(kBlock)),
      derivatives_(chosen.size(), std::vector<double>(kBlock)),
      n_found_(chosen.size(), 0) {
    const int64_t outputs = static_cast<int64_t>(chosen.size());
    const auto blocks_of = [&](int64_t cells, int64_t each) {
        return std::clamp<int64_t>(cells / std::max<int64_t>(each, 1) / kBlock, 1, blocks);
    };
    room_ = blocks_of(kCells, size) * kBlock;
    most_blocks_ = blocks_of(kPlaces, outputs);
    place_of_.assign(outputs, std::vector<int32_t>(most_blocks_ * kBlock, -1));
    int64_t widest = 0;
    for (int64_t o = 0; o < outputs; ++o) {
        counted_[o].cells.reset(new double[chosen[o].dense() * room_]);  // not set to zero
        widest = std::max(widest, chosen[o].dense());
    }
    left_.resize(widest * kTogether);
    right_.resize(widest * kTogether);
}

bool LikelyProducts::take(const LinearPass& pass, const double* weights, double* out) {
    const int outputs = static_cast<int>(chosen_.size());
    int64_t all = 0;
    for (int o = 0; o < outputs; ++o) {
        const double *p = pass.scores(o), least = negligible_.alone[o];
        double* q = derivatives_[o].data();
        block::second_derivative(weights, p, p, 1.0, q);
        int32_t* found = found_[o].data();
        int count = 0;
        for (int k = 0; k < kBlock; ++k) {
            found[count] = k;
            count += q[k] > least * weights[k];
        }
        n_found_[o] = count;
        all += count;
    }
    if (all > kMany * outputs * kBlock) return false;
    bool full = blocks_ == most_blocks_;
    for (int o = 0; o < outputs; ++o) full = full || counted_[o].count + n_found_[o] > room_;
    if (full) finish(out);
    for (int o = 0; o < outputs; ++o) append(pass, o);
    ++blocks_;
    return true;
}

void LikelyProducts::append(const LinearPass& pass, int o) {
    Counted& to = counted_[o];
    const Chosen& chosen = chosen_[o];
    const int32_t* places = found_[o].data();
    const double *p = pass.scores(o), *q = derivatives_[o].data();
    const int found = n_found_[o];
    double* cells = to.cells.get() + to.count;
    if (chosen.intercept) {
        std::fill_n(cells, found, 1.0);
        cells += room_;
    }
    for (int64_t j : chosen.numbers) {
        const double* number = pass.number(j);
        for (int t = 0; t < found; ++t) cells[t] = number[places[t]];
        cells += room_;
    }
    double counted = 0;
    for (int t = 0; t < found; ++t) {
        const int k = places[t];
        const int32_t row = static_cast<int32_t>(blocks_ * kBlock + k);
        place_of_[o][row] = static_cast<int32_t>(to.rows.size());
        to.rows.push_back(row);
        to.p.push_back(p[k]);
        to.q.push_back(q[k]);
        counted += q[k];
        to.starts.push_back(static_cast<int32_t>(to.slots.size()));
        for (size_t m : chosen.coded) {
            const LinearRows::Codes& coded = pass.coded()[m];
            const int32_t slot = chosen.slots[coded.first + pass.codes(coded)[k]];
            if (slot >= 0) to.slots.push_back(slot);
        }
    }
    to.count += found;
    const double all = block::sum(q);
    all_[o] += all;
    left_out_[o] += all - counted;
}

void LikelyProducts::finish(double* out) {
    const int outputs = static_cast<int>(chosen_.size());
    for (Counted& each : counted_) each.starts.push_back(static_cast<int32_t>(each.slots.size()));
    for (int o = 0; o < outputs; ++o)
        for (int u = o; u < outputs; ++u) {
            poll();
            find_pairs(o, u);
            add_pairs(o, u, out);
        }
    for (int o = 0; o < outputs; ++o) {
        Counted& own = counted_[o];
        for (int32_t row : own.rows) place_of_[o][row] = -1;
        own.rows.clear();
        own.p.clear();
        own.q.clear();
        own.starts.clear();
        own.slots.clear();
        own.count = 0;
    }
    blocks_ = 0;
}

// The rows that count for both.
void LikelyProducts::find_pairs(int o, int u) {
    Pair& pair = pair_;
    pair.left.clear();
    pair.right.clear();
    pair.q.clear();
    if (o == u) {
        pair.left.resize(counted_[o].count);
        std::iota(pair.left.begin(), pair.left.end(), 0);
        pair.right = pair.left;
        pair.q = counted_[o].q;
        return;
    }
    const bool swapped = counted_[u].count < counted_[o].count;
    const Counted &few = counted_[swapped ? u : o], &many = counted_[swapped ? o : u];
    const std::vector<int32_t>& place_of = place_of_[swapped ? o : u];
    std::vector<int32_t>& own = swapped ? pair.right : pair.left;
    std::vector<int32_t>& other = swapped ? pair.left : pair.right;
    const double least = std::min(negligible_.between[o], negligible_.between[u]);
    for (int64_t t = 0; t < few.count; ++t) {
        const int32_t place = place_of[few.rows[t]];
        if (place < 0 || few.p[t] * many.p[place] <= least) continue;
        own.push_back(static_cast<int32_t>(t));
        other.push_back(place);
        // q is weight times p (1 - p).
        pair.q.push_back(-few.q[t] / (1 - few.p[t]) * many.p[place]);
    }
}

void LikelyProducts::add_pairs(int o, int u, double* out) {
    const Chosen &left = chosen_[o], &right = chosen_[u];
    const Counted &rows = counted_[o], &columns = counted_[u];
    const bool half = left.places == right.places;
    double* block = out + left.first * size_ + right.first;
    const int64_t all = static_cast<int64_t>(pair_.q.size());
    for (int64_t first = 0; first < all; first += kTogether) {
        const int64_t count = std::min(kTogether, all - first);
        const int32_t *r = pair_.left.data() + first, *c = pair_.right.data() + first;
        const double* q = pair_.q.data() + first;
        lefts_.clear();
        rights_.clear();
        for (int64_t j = 0; j < left.dense(); ++j)
            lefts_.push_back(gathered(rows, j, r, count, q, left_.data() + j * kTogether));
        for (int64_t j = 0; j < right.dense(); ++j)
            rights_.push_back(
                gathered(columns, j, c, count, nullptr, right_.data() + j * kTogether));
        const int length = static_cast<int>((count + 3) / 4 * 4);  // as inner products take them
        add_dots(lefts_.data(), lefts_.size(), rights_.data(), rights_.size(), length, half, block,
                 size_);
        add_codes(left, right, rows, columns, r, c, q, count, half, block);
    }
}

// Some rows of a column, times these factors unless null, with zeros behind them.
const double* LikelyProducts::gathered(const Counted& from, int64_t column, const int32_t* places,
                                       int64_t count, const double* q, double* to) const {
    const double* cells = from.cells.get() + column * room_;
    if (q)
        for (int64_t t = 0; t < count; ++t) to[t] = q[t] * cells[places[t]];
    else
        for (int64_t t = 0; t < count; ++t) to[t] = cells[places[t]];
    for (int64_t t = count; t % 4 != 0; ++t) to[t] = 0.0;
    return to;
}

void LikelyProducts::add_codes(const Chosen& left, const Chosen& right, const Counted& rows,
                               const Counted& columns, const int32_t* r, const int32_t* c,
                               const double* q, int64_t count, bool half, double* block) const {
    if (left.coded.empty() && right.coded.empty()) return;
    for (int64_t t = 0; t < count; ++t) {
        const int32_t *e = rows.slots.data() + rows.starts[r[t]],
                      *e_end = rows.slots.data() + rows.starts[r[t] + 1],
                      *f = columns.slots.data() + columns.starts[c[t]],
                      *f_end = columns.slots.data() + columns.starts[c[t] + 1];
        for (const int32_t* slot = f; slot < f_end; ++slot)
            for (size_t j = 0; j < lefts_.size(); ++j)
                block[static_cast<int64_t>(j) * size_ + *slot] += lefts_[j][t];
        for (; e < e_end; ++e) {
            double* row = block + *e * size_;
            for (size_t j = 0; j < rights_.size() && !half; ++j) row[j] += q[t] * rights_[j][t];
            for (const int32_t* slot = f; slot < f_end; ++slot) row[*slot] += q[t];
            f += half;  // the upper triangle, where both have the same slots
        }
    }
}

}  // namespace lessnaive
