// Trees that look at no more than two columns on any way from the root to a leaf, and only at two
// that may stand together: a sum of such trees is a sum of tables over columns and pairs.
#pragma once

#include <algorithm>
#include <bitset>
#include <cstdint>
#include <vector>

namespace lessnaive {

// A column of codes: 0 is missing, 1 to n_codes - 1 are bins in order, or categories.
struct TreeColumn {
    const uint8_t* codes;
    int n_codes;
    bool ordered;
};

using CodeSet = std::bitset<256>;

// What a row adds to the sums of a node, and the sums themselves.
struct TreeSums {
    double gradient = 0, hessian = 0, weight = 0, unused = 0;

    void add(const TreeSums& other) {
        gradient += other.gradient;
        hessian += other.hessian;
        weight += other.weight;
        unused += other.unused;
    }
    void subtract(const TreeSums& other) {
        gradient -= other.gradient;
        hessian -= other.hessian;
        weight -= other.weight;
    }
};

// The rows of a leaf are those whose codes are in both sets; a column of -1 is no condition.
struct TreeLeaf {
    int first = -1, second = -1;  // first < second, if there are two
    CodeSet first_codes, second_codes;
    double value = 0;
    int64_t begin = 0, end = 0;            // its training rows, in the order of the grower
    int64_t held_begin = 0, held_end = 0;  // its held-out rows
};

struct TreeRules {
    int leaves;           // at most
    double l2;            // added to the sum of the second derivatives
    double least_weight;  // of the training rows of a leaf
};

// The columns that a tree may look at: a share of them, drawn anew for each tree.
class ColumnDraw {
  public:
    // order: the columns to draw from, of all columns, in an order that may not depend on places.
    ColumnDraw(std::vector<int> order, size_t columns, double share, uint64_t seed);

    void draw();
    bool has(int column) const { return drawn_[column] != 0; }
    // All columns to draw from, in the order that was given.
    const std::vector<int>& columns() const { return columns_; }
    // Puts columns into that order, those that are not drawn from behind the others.
    void sort(std::vector<int>& columns) const;

  private:
    std::vector<int> columns_, order_;
    std::vector<size_t> rank_;
    std::vector<char> drawn_;
    size_t wanted_;
    uint64_t state_;
};

// Grows trees on the same rows and columns, one after the other.
class TreeGrower {
  public:
    // partners[j]: the columns that may stand beside column j. Held-out rows go along, and are not
    // learned from. Of splits that gain the same, but for rounding, that of the column which is
    // first in the order of the draw is taken.
    TreeGrower(std::vector<TreeColumn> columns, std::vector<std::vector<int>> partners,
               std::vector<int32_t> rows, std::vector<int32_t> held_out, TreeRules rules,
               ColumnDraw draw);

    // sums[i] belongs to row i of the table. The value of a leaf is the Newton step
    // -gradient / (hessian + l2). No leaves if no split gains anything.
    const std::vector<TreeLeaf>& grow(const std::vector<TreeSums>& sums);

    // Training rows and held-out rows, in an order in which the rows of a leaf stand together.
    const std::vector<int32_t>& rows() const { return rows_; }
    const std::vector<int32_t>& held_out() const { return held_out_; }

  private:
    struct Split {
        double gain = 0, rounding = 0;  // and what rounding may have done to it
        int column = -1;
        CodeSet left;

        bool beats(const Split& other) const {
            return gain > other.gain + std::max(rounding, other.rounding);
        }
    };
    struct Node {
        TreeLeaf leaf;
        TreeSums total;
        Split split;
        int histogram = -1;
    };

    std::vector<int> allowed(const TreeLeaf& leaf) const;
    void count(const TreeLeaf& leaf, const std::vector<int>& columns,
               const std::vector<TreeSums>& sums, std::vector<TreeSums>& histogram) const;
    void find_split(Node& node) const;
    Split best_ordered(int column, const TreeSums* bins, const TreeSums& total) const;
    Split best_grouped(int column, const TreeSums* bins, const TreeSums& total) const;
    void divide(const Node& node, Node& left, Node& right);
    void count_children(Node& parent, Node& left, Node& right, const std::vector<TreeSums>& sums);
    double score(const TreeSums& sums) const {
        return sums.gradient * sums.gradient / (sums.hessian + rules_.l2);
    }
    bool is_large_enough(const TreeSums& sums) const;
    // Takes the split into `left` and the rest of `total` if it gains more than the best so far.
    // `before` is the score of `total`.
    bool try_split(const TreeSums& left, const TreeSums& total, double before, Split& best) const;

    std::vector<TreeColumn> columns_;
    std::vector<uint8_t> codes_;              // of the training rows, (rows, columns)
    std::vector<std::vector<int>> partners_;  // and the column itself, in the order of the draw
    std::vector<int32_t> all_rows_, all_held_out_, rows_, held_out_, buffer_;
    TreeRules rules_;
    ColumnDraw draw_;
    std::vector<int> offsets_;  // of the bins of each column in a histogram
    std::vector<std::vector<TreeSums>> histograms_;
    std::vector<int> free_;
    std::vector<TreeLeaf> leaves_;
};

}  // namespace lessnaive
