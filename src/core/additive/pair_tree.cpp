#include "additive/pair_tree.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/parallel.hpp"

namespace lessnaive {
namespace {

// Less curvature than this says nothing about a step.
constexpr double kLeastHessian = 1e-3;
// What rounding leaves of a difference of sums is less than this share of them.
constexpr double kRounding = 1e-9;
// Columns that are counted together.
constexpr int64_t kColumns = 16;

// The next number of SplitMix64, which is the same on every machine.
uint64_t next_random(uint64_t& state) {
    uint64_t z = state += 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

// Whether a part has more than half of the weight, and not by rounding.
bool is_most(const TreeSums& part, const TreeSums& total) {
    return part.weight > (0.5 + kRounding) * total.weight;
}

void put_rows(const TreeColumn& column, const CodeSet& left, std::vector<int32_t>& rows,
              int64_t begin, int64_t end, std::vector<int32_t>& buffer, int64_t& middle) {
    buffer.clear();
    int64_t at = begin;
    for (int64_t i = begin; i < end; ++i) {
        const int32_t row = rows[i];
        if (left[column.codes[row]])
            rows[at++] = row;
        else
            buffer.push_back(row);
    }
    middle = at;
    std::copy(buffer.begin(), buffer.end(), rows.begin() + at);
}

}  // namespace

ColumnDraw::ColumnDraw(std::vector<int> order, size_t columns, double share, uint64_t seed)
    : columns_(std::move(order)),
      order_(columns_),
      rank_(columns, columns),
      drawn_(columns, 0),
      wanted_(static_cast<size_t>(std::ceil(share * static_cast<double>(order_.size())))),
      state_(seed) {
    for (size_t k = 0; k < columns_.size(); ++k) rank_[columns_[k]] = k;
}

void ColumnDraw::draw() {
    std::fill(drawn_.begin(), drawn_.end(), 0);
    for (size_t k = 0; k < wanted_; ++k) {  // the first places of a shuffle
        std::swap(order_[k], order_[k + next_random(state_) % (order_.size() - k)]);
        drawn_[order_[k]] = 1;
    }
}

void ColumnDraw::sort(std::vector<int>& columns) const {
    std::stable_sort(columns.begin(), columns.end(),
                     [this](int a, int b) { return rank_[a] < rank_[b]; });
}

TreeGrower::TreeGrower(std::vector<TreeColumn> columns, std::vector<std::vector<int>> partners,
                       std::vector<int32_t> rows, std::vector<int32_t> held_out, TreeRules rules,
                       ColumnDraw draw)
    : columns_(std::move(columns)),
      partners_(std::move(partners)),
      all_rows_(std::move(rows)),
      all_held_out_(std::move(held_out)),
      rows_(all_rows_),
      held_out_(all_held_out_),
      rules_(rules),
      draw_(std::move(draw)) {
    int total = 0;
    for (const TreeColumn& column : columns_) {
        offsets_.push_back(total);
        total += column.n_codes;
    }
    histograms_.assign(rules_.leaves + 1, std::vector<TreeSums>(total));
    for (size_t j = 0; j < partners_.size(); ++j) {
        partners_[j].push_back(static_cast<int>(j));
        draw_.sort(partners_[j]);
    }
    const size_t width = columns_.size();
    const int32_t last =
        all_rows_.empty() ? -1 : *std::max_element(all_rows_.begin(), all_rows_.end());
    codes_.resize((static_cast<size_t>(last) + 1) * width);
    for (size_t j = 0; j < width; ++j)
        for (int32_t row : all_rows_) codes_[row * width + j] = columns_[j].codes[row];
}

const std::vector<TreeLeaf>& TreeGrower::grow(const std::vector<TreeSums>& sums) {
    draw_.draw();
    free_.clear();
    for (size_t h = 0; h < histograms_.size(); ++h) free_.push_back(static_cast<int>(h));
    leaves_.clear();
    rows_ = all_rows_;  // in the order of the table, which memory likes
    held_out_ = all_held_out_;
    Node root;
    root.leaf.end = static_cast<int64_t>(rows_.size());
    root.leaf.held_end = static_cast<int64_t>(held_out_.size());
    for (int32_t row : rows_) root.total.add(sums[row]);
    root.histogram = free_.back();
    free_.pop_back();
    count(root.leaf, allowed(root.leaf), sums, histograms_[root.histogram]);
    find_split(root);
    std::vector<Node> nodes{root};
    while (static_cast<int>(nodes.size()) < rules_.leaves) {
        auto best = nodes.begin();
        for (auto node = best + 1; node != nodes.end(); ++node)
            if (node->split.beats(best->split)) best = node;
        if (best->split.column < 0) break;
        Node left, right;
        divide(*best, left, right);
        if (static_cast<int>(nodes.size()) + 1 < rules_.leaves)
            count_children(*best, left, right, sums);
        *best = left;
        nodes.push_back(right);
    }
    if (nodes.size() < 2) return leaves_;
    for (Node& node : nodes) {
        node.leaf.value = -node.total.gradient / (node.total.hessian + rules_.l2);
        if (node.leaf.second >= 0 && node.leaf.second < node.leaf.first) {
            std::swap(node.leaf.first, node.leaf.second);
            std::swap(node.leaf.first_codes, node.leaf.second_codes);
        }
        leaves_.push_back(node.leaf);
    }
    return leaves_;
}

std::vector<int> TreeGrower::allowed(const TreeLeaf& leaf) const {
    std::vector<int> out;
    for (int j : leaf.first < 0 ? draw_.columns() : partners_[leaf.first])
        if (j == leaf.first || (leaf.second < 0 ? draw_.has(j) : j == leaf.second))
            out.push_back(j);
    return out;
}

void TreeGrower::count(const TreeLeaf& leaf, const std::vector<int>& columns,
                       const std::vector<TreeSums>& sums, std::vector<TreeSums>& histogram) const {
    const int64_t rows = leaf.end - leaf.begin, width = static_cast<int64_t>(columns_.size());
    const auto n = static_cast<int64_t>(columns.size());
    // Row by row, so that what is added next does not wait for what was added last.
    parallel_for((n + kColumns - 1) / kColumns, rows * n, [&](int64_t t) {
        const int64_t first = t * kColumns, last = std::min(n, first + kColumns);
        TreeSums* bins[kColumns];
        for (int64_t k = first; k < last; ++k) {
            bins[k - first] = histogram.data() + offsets_[columns[k]];
            std::fill_n(bins[k - first], columns_[columns[k]].n_codes, TreeSums{});
        }
        for (int64_t i = leaf.begin; i < leaf.end; ++i) {
            const uint8_t* codes = codes_.data() + rows_[i] * width;
            const TreeSums& own = sums[rows_[i]];
            for (int64_t k = first; k < last; ++k) bins[k - first][codes[columns[k]]].add(own);
        }
    });
}

bool TreeGrower::is_large_enough(const TreeSums& sums) const {
    return sums.weight >= rules_.least_weight * (1 - kRounding) && sums.hessian >= kLeastHessian;
}

void TreeGrower::find_split(Node& node) const {
    node.split = Split{};
    if (node.total.weight < 2 * rules_.least_weight * (1 - kRounding)) return;
    for (int column : allowed(node.leaf)) {
        const TreeSums* bins = histograms_[node.histogram].data() + offsets_[column];
        Split found = columns_[column].ordered ? best_ordered(column, bins, node.total)
                                               : best_grouped(column, bins, node.total);
        if (found.beats(node.split)) node.split = found;
    }
}

bool TreeGrower::try_split(const TreeSums& left, const TreeSums& total, double before,
                           Split& best) const {
    TreeSums right = total;
    right.subtract(left);
    if (!is_large_enough(left) || !is_large_enough(right)) return false;
    const double after = score(left) + score(right), rounding = kRounding * (after + before);
    if (!(after - before > best.gain + std::max(rounding, best.rounding))) return false;
    best.gain = after - before;
    best.rounding = rounding;
    return true;
}

TreeGrower::Split TreeGrower::best_ordered(int column, const TreeSums* bins,
                                           const TreeSums& total) const {
    Split out;
    const int n_codes = columns_[column].n_codes;
    const bool gaps = bins[0].weight > kRounding * total.weight;
    const double before = score(total);
    int last = -1;
    bool missing_left = false;
    for (int side = 0; side < (gaps ? 2 : 1); ++side) {  // gaps to the right, then to the left
        TreeSums left = side == 1 ? bins[0] : TreeSums{};
        // Without the last bin, all values are on one side: gaps against the rest.
        const int end = gaps && side == 0 ? n_codes : n_codes - 1;
        for (int code = 1; code < end; ++code) {
            if (bins[code].weight == 0) continue;  // the same split again
            left.add(bins[code]);
            if (!try_split(left, total, before, out)) continue;
            last = code;
            missing_left = side == 1 || (!gaps && is_most(left, total));
        }
    }
    if (last < 0) return out;
    out.column = column;
    for (int code = 1; code <= last; ++code) out.left.set(code);
    out.left.set(0, missing_left);
    return out;
}

TreeGrower::Split TreeGrower::best_grouped(int column, const TreeSums* bins,
                                           const TreeSums& total) const {
    Split out;
    const int n_codes = columns_[column].n_codes;
    std::vector<std::pair<double, int>> order;
    for (int code = 0; code < n_codes; ++code)
        if (bins[code].weight > kRounding * total.weight)
            order.emplace_back(bins[code].gradient / (bins[code].hessian + rules_.l2), code);
    std::sort(order.begin(), order.end());
    const double before = score(total);
    TreeSums left;
    size_t first_right = 0;
    bool rest_left = false;
    for (size_t k = 0; k + 1 < order.size(); ++k) {
        left.add(bins[order[k].second]);
        if (!try_split(left, total, before, out)) continue;
        first_right = k + 1;
        rest_left = is_most(left, total);
    }
    if (first_right == 0) return out;
    out.column = column;
    // Categories without rows here go where most rows go.
    if (rest_left)
        for (int code = 0; code < n_codes; ++code) out.left.set(code);
    for (size_t k = 0; k < order.size(); ++k) out.left.set(order[k].second, k < first_right);
    return out;
}

void TreeGrower::divide(const Node& node, Node& left, Node& right) {
    const TreeColumn& column = columns_[node.split.column];
    left.leaf = right.leaf = node.leaf;
    int64_t middle = 0, held_middle = 0;
    put_rows(column, node.split.left, rows_, node.leaf.begin, node.leaf.end, buffer_, middle);
    put_rows(column, node.split.left, held_out_, node.leaf.held_begin, node.leaf.held_end, buffer_,
             held_middle);
    left.leaf.end = right.leaf.begin = middle;
    left.leaf.held_end = right.leaf.held_begin = held_middle;
    for (Node* child : {&left, &right}) {
        TreeLeaf& leaf = child->leaf;
        const CodeSet side = child == &left ? node.split.left : ~node.split.left;
        if (leaf.first < 0) {
            leaf.first = node.split.column;
            leaf.first_codes.set();
        } else if (leaf.first != node.split.column && leaf.second < 0) {
            leaf.second = node.split.column;
            leaf.second_codes.set();
        }
        (leaf.first == node.split.column ? leaf.first_codes : leaf.second_codes) &= side;
    }
    const TreeSums* bins = histograms_[node.histogram].data() + offsets_[node.split.column];
    for (int code = 0; code < column.n_codes; ++code)
        if (node.split.left[code]) left.total.add(bins[code]);
    right.total = node.total;
    right.total.subtract(left.total);
}

void TreeGrower::count_children(Node& parent, Node& left, Node& right,
                                const std::vector<TreeSums>& sums) {
    const bool left_is_smaller =
        left.leaf.end - left.leaf.begin <= right.leaf.end - right.leaf.begin;
    Node& small = left_is_smaller ? left : right;
    Node& large = left_is_smaller ? right : left;
    small.histogram = free_.back();
    free_.pop_back();
    large.histogram = parent.histogram;
    const std::vector<int> columns = allowed(small.leaf);
    count(small.leaf, columns, sums, histograms_[small.histogram]);
    for (int column : columns) {  // what is not in the smaller child is in the larger one
        TreeSums* from = histograms_[large.histogram].data() + offsets_[column];
        const TreeSums* minus = histograms_[small.histogram].data() + offsets_[column];
        for (int code = 0; code < columns_[column].n_codes; ++code)
            from[code].subtract(minus[code]);
    }
    find_split(small);
    find_split(large);
}

}  // namespace lessnaive
