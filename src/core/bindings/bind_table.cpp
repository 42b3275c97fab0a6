// Counting, moments and scoring over the columns of a table.
#include <nanobind/stl/string_view.h>

#include "bindings/bindings.hpp"
#include "bindings/checks.hpp"
#include "bindings/curves.hpp"
#include "bindings/overlap.hpp"
#include "bindings/released.hpp"
#include "table/counting.hpp"
#include "table/moments.hpp"
#include "table/scoring.hpp"
#include "table/text_codes.hpp"

namespace lessnaive {
namespace {

void count_binding(const std::vector<Array>& columns, const std::vector<int64_t>& shifts,
                   const Array& labels, const std::optional<Weights>& weights,
                   const std::vector<Table>& tables) {
    const int64_t rows = length(labels);
    require(columns.size() == shifts.size() && columns.size() == tables.size(),
            "columns, shifts and tables differ in number");
    Memory().fill(tables).read(columns).read(labels).read(weights).require_apart();
    if (columns.empty()) return;
    const int classes = classes_of(length(tables[0], 1));
    std::vector<CodedColumn> coded;
    std::vector<double*> cells;
    for (size_t j = 0; j < columns.size(); ++j) {
        require(length(tables[j], 1) == classes, "a table has the wrong shape");
        coded.push_back(codes_of(columns[j], rows, shifts[j], length(tables[j])));
        cells.push_back(tables[j].data());
    }
    const Column label_column = labels_of(labels, rows, classes);
    const double* w = weights_of(weights, rows);
    nb::gil_scoped_release release;
    count(coded, label_column, w, rows, classes, cells);
}

void moments_binding(const std::vector<Array>& columns, const Array& labels,
                     const std::optional<Weights>& weights, Cube out) {
    const int64_t rows = length(labels);
    require(out.shape(0) == columns.size() && out.shape(2) == 6, "out has the wrong shape");
    const int classes = classes_of(length(out, 1));
    Memory().fill(out).read(columns).read(labels).read(weights).require_apart();
    const std::vector<Column> views = columns_of(columns, rows);
    const Column label_column = labels_of(labels, rows, classes);
    const double* w = weights_of(weights, rows);
    Moments* cells = reinterpret_cast<Moments*>(out.data());
    nb::gil_scoped_release release;
    moments(views, label_column, w, rows, classes, cells);
}

void merge_moments_binding(Cube into, const Levels& from) {
    require(into.shape(0) == from.shape(0) && into.shape(1) == from.shape(1) &&
                into.shape(2) == 6 && from.shape(2) == 6,
            "moments differ in shape");
    Memory().fill(into).read(from).require_apart();
    Moments* a = reinterpret_cast<Moments*>(into.data());
    const Moments* b = reinterpret_cast<const Moments*>(from.data());
    for (size_t i = 0; i < into.shape(0) * into.shape(1); ++i) merge(a[i], b[i]);
}

// Two columns of codes: codes, shift and places of each, and a table. Without codes the shift is
// the place of a curve, and places belong to its segments.
using Codings = ArrayOf<const uint32_t, 1>;
using PairTuple = std::tuple<std::optional<Array>, int64_t, std::optional<Codings>,
                             std::optional<Array>, int64_t, std::optional<Codings>, Levels>;

PairSide pair_side(const std::optional<Array>& codes, int64_t shift,
                   const std::optional<Codings>& places, int64_t size, int64_t rows,
                   const std::vector<Piecewise>& curves) {
    require(codes || places, "a pair has the wrong places");
    if (!places) return {codes_of(*codes, rows, shift, size), nullptr, size};
    for (int64_t i = 0; i < length(*places); ++i)
        require(places->data()[i] < size, "a pair has the wrong places");
    require(length(*places) > 0, "a pair has the wrong places");
    if (codes) return {codes_of(*codes, rows, shift, length(*places)), places->data(), size};
    require(0 <= shift && shift < static_cast<int64_t>(curves.size()), "a pair has no curve");
    require(length(*places) == curves[shift].edge_count + 2, "a pair has the wrong places");
    return {{}, places->data(), size, shift};
}

PairLookup pair_of(const PairTuple& pair, int64_t rows, int classes,
                   const std::vector<Piecewise>& curves, Memory& used) {
    const auto& [codes, shift, places, other_codes, other_shift, other_places, table] = pair;
    const int64_t first = length(table), second = length(table, 1);
    require(length(table, 2) == classes && first > 0 && second > 0, "a table has the wrong shape");
    require(first <= kMostTableRows / second, "a table is too large");
    used.read(codes).read(places).read(other_codes).read(other_places).read(table);
    return {pair_side(codes, shift, places, first, rows, curves),
            pair_side(other_codes, other_shift, other_places, second, rows, curves), table.data()};
}

int64_t score_binding(const std::vector<Array>& coded_columns, const std::vector<int64_t>& shifts,
                      const std::vector<Matrix>& tables, const std::vector<Array>& numeric_columns,
                      const std::vector<Matrix>& parameters, const Vector& intercept, int output,
                      Table out, const std::vector<PiecewiseTuple>& curves,
                      const std::vector<PairTuple>& pairs) {
    const int64_t rows = length(out);
    const int classes = classes_of(length(out, 1));
    require(length(intercept) == classes, "the intercept has the wrong length");
    require(coded_columns.size() == shifts.size() && coded_columns.size() == tables.size() &&
                numeric_columns.size() == parameters.size(),
            "columns and terms differ in number");
    require(output >= 0 && output <= 2, "unknown output");
    Memory used;
    used.fill(out).read(coded_columns).read(tables).read(numeric_columns).read(parameters);
    used.read(intercept);
    Terms terms;
    for (size_t j = 0; j < coded_columns.size(); ++j) {
        require(length(tables[j], 1) == classes, "a table has the wrong shape");
        terms.lookups.push_back(
            {codes_of(coded_columns[j], rows, shifts[j], length(tables[j])), tables[j].data()});
    }
    for (size_t j = 0; j < numeric_columns.size(); ++j) {
        const bool is_line = parameters[j].shape(0) == 2;
        require((parameters[j].shape(0) == 5 || is_line) && length(parameters[j], 1) == classes,
                "parameters have the wrong shape");
        terms.quadratics.push_back(
            {column_of(numeric_columns[j], rows), parameters[j].data(), is_line});
    }
    for (const PiecewiseTuple& curve : curves)
        terms.curves.push_back(piecewise_of(curve, rows, classes, used));
    for (const PairTuple& pair : pairs)
        terms.pairs.push_back(pair_of(pair, rows, classes, terms.curves, used));
    used.require_apart();
    const Released release;
    return score(terms, intercept.data(), rows, classes, static_cast<Output>(output), out.data());
}

using Bytes = ArrayOf<const uint8_t, 1>;
using Places = ArrayOf<int32_t, 1>;

// The places of texts end in an array of 32 bits.
constexpr int64_t kMostTexts = INT32_MAX;

template <class Offset>
std::vector<std::string_view> texts_of(const Array& offsets, const Bytes& bytes,
                                       const std::optional<Bytes>& valid, int64_t first,
                                       Places codes) {
    const int64_t rows = length(codes), end = length(bytes);
    const Offset* starts = static_cast<const Offset*>(offsets.data()) + first;
    require(reinterpret_cast<uintptr_t>(starts) % sizeof(Offset) == 0, "an array is not aligned");
    nb::gil_scoped_release release;
    bool in_range = starts[0] >= 0 && static_cast<int64_t>(starts[rows]) <= end;
    for (int64_t row = 0; row < rows; ++row) in_range &= starts[row] <= starts[row + 1];
    require(in_range, "an offset is out of range");
    return text_codes(starts, reinterpret_cast<const char*>(bytes.data()),
                      valid ? valid->data() : nullptr, first, rows, codes.data());
}

std::vector<std::string_view> text_codes_binding(const Array& offsets, const Bytes& bytes,
                                                 const std::optional<Bytes>& valid, int64_t first,
                                                 Places codes) {
    const int64_t rows = length(codes), count = length(offsets);
    require(first >= 0 && first < count && rows < count - first && offsets.stride(0) == 1,
            "there are too few offsets");
    require(rows <= kMostTexts, "there are too many rows");
    require(!valid || first + rows <= 8 * length(*valid), "there are too few bits");
    Memory().fill(codes).read(offsets).read(bytes).read(valid).require_apart();
    const DType type = dtype_of(offsets);
    require(type == DType::i32 || type == DType::i64, "offsets must be of 32 or 64 bits");
    return type == DType::i32 ? texts_of<int32_t>(offsets, bytes, valid, first, codes)
                              : texts_of<int64_t>(offsets, bytes, valid, first, codes);
}

}  // namespace

void bind_table(nb::module_& m) {
    m.def("count", &count_binding, array_arg("columns"), nb::arg("shifts"), array_arg("labels"),
          array_or_none("weights"), array_arg("tables"),
          "Add the weight of each (code + shift, label) to tables, in place and in row order.");
    m.def("moments", &moments_binding, array_arg("columns"), array_arg("labels"),
          array_or_none("weights"), array_arg("out"),
          "Per column and class: weight, mean, its low part, squared deviations, their low part, "
          "missing weight; merged into out.");
    m.def("merge_moments", &merge_moments_binding, array_arg("into"), array_arg("other"),
          "Merge two arrays of moments, in place.");
    m.def(
        "score", &score_binding, array_arg("coded_columns"), nb::arg("shifts"), array_arg("tables"),
        array_arg("numeric_columns"), array_arg("parameters"), array_arg("intercept"),
        nb::arg("output"), array_arg("out"), array_arg("curves") = std::vector<PiecewiseTuple>(),
        array_arg("pairs") = std::vector<PairTuple>(),
        "Fill out (rows, classes) with scores (output 0), log-probabilities (1) or "
        "probabilities (2); returns the place of a column with an infinite value among the "
        "numeric columns and then the curves, or -1. Curves are numbers, edges, offset, slope and "
        "missing; pairs are codes, shift and places (or None) of two columns, and a table. Without "
        "codes the shift is the place of a curve, whose segments and missing values have places.");
    m.def(
        "text_codes", &text_codes_binding, array_arg("offsets"), array_arg("bytes"),
        array_or_none("valid"), nb::arg("first"), array_arg("codes"),
        "Fill codes with the places of texts, in Arrow's layout and from the row `first` on, among "
        "the distinct ones, -1 where missing; returns these.");
}

}  // namespace lessnaive
