// The evidence of a training table, packed for the many passes of an optimizer.
//
// score_c(row) = b_c + sum_j w_cj e_jc(row), where e_jc is looked up by the code of column j or is
// a parabola or a piecewise-linear curve in its value. Rows are put in the order of their labels
// and cut into blocks of one label each, so that a block may have tables of its own: when every row
// is scored by tables that leave this row out, only the entries of its own class differ, and those
// depend on nothing but the label.
//
// Memory: the codes (1, 2 or 4 bytes each), 8 bytes per value of a curve, and the tables.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
#include <variant>
#include <vector>

#include "table/column.hpp"
#include "table/scoring.hpp"

namespace lessnaive {

constexpr int kEvidenceBlock = 256;

struct EvidenceLookup {
    Lookup lookup;      // table: (table_rows, classes)
    const double* own;  // the same for the row's own class with the row left out, or null
    int64_t place;      // which column of the evidence this is
};

// A parabola, or a piecewise-linear curve.
struct EvidenceCurve {
    std::variant<Quadratic, Piecewise> curve;
    const double* own;  // (rows): evidence for the row's own class with the row left out, or null
    // (rows): how much narrower the parabolas of the other classes are with the row left out, as
    // the ratio of variances, or null if they stay as they are; and (classes): the share of the
    // variance of each class that changes by this ratio, or null if all of it does.
    const double* sharpness;
    const double* sharp_share;
    int64_t place;
};

struct Block {
    int64_t first;  // among the packed rows
    int count;
    int label;
};

class Evidence {
  public:
    // own_intercept: the intercept of a row's own class with the row left out, or null.
    // Rows of weight 0 are left out. If `merged`, rows that are alike may have become one.
    Evidence(const std::vector<EvidenceLookup>& lookups, const std::vector<EvidenceCurve>& curves,
             const double* intercept, const double* own_intercept, const Column& labels,
             const double* weights, int64_t rows, int classes, bool merged = false);

    // Some of the packed rows, which are in increasing order.
    Evidence take(const std::vector<uint32_t>& rows) const;

    int64_t rows() const { return rows_; }
    int classes() const { return classes_; }
    int columns() const { return columns_; }
    int pad() const { return pad_; }
    double total_weight() const { return total_weight_; }
    const std::vector<Block>& blocks() const { return blocks_; }
    // Null where every row counts once.
    const double* weights() const { return weights_.empty() ? nullptr : weights_.data(); }
    // (pad): the intercepts for rows of a label.
    const double* intercept(int label) const { return intercepts_.data() + label * pad_; }
    int64_t bytes() const;

    // A column of codes and its tables.
    struct Coded {
        int64_t place;
        int width;                  // bytes of a code
        std::vector<uint8_t> data;  // rows x width
        int64_t table_rows;
        std::vector<double> tables;  // (1 or classes, table_rows, pad)
        bool by_label;

        const double* table(int label, int pad) const {
            return tables.data() + (by_label ? label * table_rows * pad : 0);
        }
    };
    // A column of values, the curve of each class, and perhaps what the own class says.
    struct Curve {
        int64_t place;
        std::vector<double> values, own, sharpness;
        std::vector<double> sharp_share;      // (classes)
        std::vector<double> parameters;       // (5, classes) of a parabola, or
        std::optional<SegmentedLines> lines;  // a piecewise-linear curve
    };

    // Which rows of a table the codes of a column stand for. A column of small integers is looked
    // up in a table with a row for every number of its type, most of which are the same: then only
    // those that differ are kept, so that codes need fewer bytes and tables stay in the cache.
    struct TableRows {
        std::vector<int64_t> kept;
        std::vector<uint32_t> place;  // among those kept, by code; empty if that is the code itself
    };

    // Columns that say nothing about any row are in neither.
    const std::vector<Coded>& coded() const { return coded_; }
    const std::vector<Curve>& curves() const { return curves_; }
    // The columns that are in one of them, in ascending order.
    std::vector<int64_t> places() const;

    // out: (classes, stride): the evidence of `count` rows of one label in a column of values.
    void curve_evidence(const Curve& curve, int label, int64_t first, int count, int stride,
                        double* out) const;

    // out: (rows, classes, columns): the evidence of all rows, in the order of the packed rows.
    void unpack(double* out) const;

  private:
    Evidence() = default;
    void merge_equal_rows();
    void pack_rows(const Column& labels, const double* weights, int64_t rows);
    void make_room(const EvidenceLookup& from, const std::vector<int64_t>& kept, Coded& to) const;
    void make_room(const EvidenceCurve& from, Curve& to) const;
    void pack_block(const CodedColumn& from, const TableRows& table, int64_t first, int count,
                    Coded& to) const;
    void pack_block(const EvidenceCurve& from, int64_t first, int count, Curve& to) const;

    int classes_, pad_, columns_ = 0;
    int64_t rows_ = 0;
    double total_weight_ = 0;
    std::vector<uint32_t> position_;  // of each row of the table; only while packing
    std::vector<Block> blocks_;
    std::vector<double> weights_, intercepts_;
    std::vector<Coded> coded_;
    std::vector<Curve> curves_;
};

// Calls visit with the codes at `data` (of bytes, const or not) as numbers of `width` bytes.
template <class Byte, class Visitor>
inline void visit_as_codes(Byte* data, int width, Visitor&& visit) {
    using Two = std::conditional_t<std::is_const_v<Byte>, const uint16_t, uint16_t>;
    using Four = std::conditional_t<std::is_const_v<Byte>, const uint32_t, uint32_t>;
    if (width == 1)
        visit(data);
    else if (width == 2)
        visit(reinterpret_cast<Two*>(data));
    else
        visit(reinterpret_cast<Four*>(data));
}

// Codes of rows [first, first + count) as 32-bit numbers.
void expand_codes(const Evidence::Coded& coded, int64_t first, int count, uint32_t* out);
// The same for any rows.
void pick_codes(const Evidence::Coded& coded, const std::vector<int64_t>& rows, uint32_t* out);

}  // namespace lessnaive
