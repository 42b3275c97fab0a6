// Counting, moments and scoring over the columns of a table.
#include <nanobind/stl/string_view.h>

#include "bindings/bindings.hpp"
#include "table/counting.hpp"
#include "table/moments.hpp"
#include "table/scoring.hpp"
#include "table/text_codes.hpp"

namespace lessnaive {
namespace {

void count_binding(const std::vector<Array>& columns, const std::vector<int64_t>& shifts,
                   const Array& labels, const std::optional<Weights>& weights,
                   const std::vector<Table>& tables) {
    const int64_t rows = static_cast<int64_t>(labels.shape(0));
    require(columns.size() == shifts.size() && columns.size() == tables.size(),
            "columns, shifts and tables differ in number");
    if (columns.empty()) return;
    const int classes = static_cast<int>(tables[0].shape(1));
    require(classes > 0, "a table has the wrong shape");
    std::vector<CodedColumn> coded;
    std::vector<double*> cells;
    for (size_t j = 0; j < columns.size(); ++j) {
        require(static_cast<int>(tables[j].shape(1)) == classes && tables[j].shape(0) > 0,
                "a table has the wrong shape");
        coded.push_back(
            {codes_of(columns[j], rows), shifts[j], static_cast<int64_t>(tables[j].shape(0))});
        cells.push_back(tables[j].data());
    }
    const Column label_column = codes_of(labels, rows);
    const double* w = weights_of(weights, rows);
    nb::gil_scoped_release release;
    count(coded, label_column, w, rows, classes, cells);
}

void moments_binding(const std::vector<Array>& columns, const Array& labels,
                     const std::optional<Weights>& weights, Cube out) {
    const int64_t rows = static_cast<int64_t>(labels.shape(0));
    require(out.shape(0) == columns.size() && out.shape(2) == 6, "out has the wrong shape");
    std::vector<Column> views;
    for (const Array& column : columns) views.push_back(column_of(column, rows));
    const Column label_column = codes_of(labels, rows);
    const double* w = weights_of(weights, rows);
    const int classes = static_cast<int>(out.shape(1));
    Moments* cells = reinterpret_cast<Moments*>(out.data());
    nb::gil_scoped_release release;
    moments(views, label_column, w, rows, classes, cells);
}

void merge_moments_binding(Cube into, Cube from) {
    require(into.shape(0) == from.shape(0) && into.shape(1) == from.shape(1) &&
                into.shape(2) == 6 && from.shape(2) == 6,
            "moments differ in shape");
    Moments* a = reinterpret_cast<Moments*>(into.data());
    const Moments* b = reinterpret_cast<const Moments*>(from.data());
    for (size_t i = 0; i < into.shape(0) * into.shape(1); ++i) merge(a[i], b[i]);
}

// Two columns of codes: codes, shift and places of each, and a table.
using Codings = nb::ndarray<const uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Solid = nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using PairTuple = std::tuple<Array, int64_t, std::optional<Codings>, Array, int64_t,
                             std::optional<Codings>, Solid>;

PairSide pair_side(const Array& codes, int64_t shift, const std::optional<Codings>& places,
                   size_t size, int64_t rows) {
    if (!places)
        return {{codes_of(codes, rows), shift, static_cast<int64_t>(size)},
                nullptr,
                static_cast<int64_t>(size)};
    require(places->shape(0) > 0, "a pair has the wrong places");
    for (size_t i = 0; i < places->shape(0); ++i)
        require(places->data()[i] < size, "a pair has the wrong places");
    return {{codes_of(codes, rows), shift, static_cast<int64_t>(places->shape(0))},
            places->data(),
            static_cast<int64_t>(size)};
}

PairLookup pair_of(const PairTuple& pair, int64_t rows, size_t classes) {
    const auto& [codes, shift, places, other_codes, other_shift, other_places, table] = pair;
    const size_t first = table.shape(0), second = table.shape(1);
    require(table.shape(2) == classes && first > 0 && second > 0, "a table has the wrong shape");
    require(first <= UINT32_MAX / second, "a table is too large");
    return {pair_side(codes, shift, places, first, rows),
            pair_side(other_codes, other_shift, other_places, second, rows), table.data()};
}

int64_t score_binding(const std::vector<Array>& coded_columns, const std::vector<int64_t>& shifts,
                      const std::vector<Matrix>& tables, const std::vector<Array>& numeric_columns,
                      const std::vector<Matrix>& parameters, const Vector& intercept, int output,
                      Table out, const std::vector<PiecewiseTuple>& curves,
                      const std::vector<PairTuple>& pairs) {
    const int64_t rows = static_cast<int64_t>(out.shape(0));
    const size_t classes = out.shape(1);
    require(classes > 0 && intercept.shape(0) == classes, "the intercept has the wrong length");
    require(coded_columns.size() == shifts.size() && coded_columns.size() == tables.size() &&
                numeric_columns.size() == parameters.size(),
            "columns and terms differ in number");
    require(output >= 0 && output <= 2, "unknown output");
    Terms terms;
    for (size_t j = 0; j < coded_columns.size(); ++j) {
        require(tables[j].shape(1) == classes && tables[j].shape(0) > 0,
                "a table has the wrong shape");
        terms.lookups.push_back({{codes_of(coded_columns[j], rows), shifts[j],
                                  static_cast<int64_t>(tables[j].shape(0))},
                                 tables[j].data()});
    }
    for (size_t j = 0; j < numeric_columns.size(); ++j) {
        const bool is_line = parameters[j].shape(0) == 2;
        require((parameters[j].shape(0) == 5 || is_line) && parameters[j].shape(1) == classes,
                "parameters have the wrong shape");
        terms.quadratics.push_back(
            {column_of(numeric_columns[j], rows), parameters[j].data(), is_line});
    }
    for (const PiecewiseTuple& curve : curves)
        terms.curves.push_back(piecewise_of(curve, rows, classes));
    for (const PairTuple& pair : pairs) terms.pairs.push_back(pair_of(pair, rows, classes));
    nb::gil_scoped_release release;
    return score(terms, intercept.data(), rows, static_cast<int>(classes),
                 static_cast<Output>(output), out.data());
}

using Bytes = nb::ndarray<const uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Places = nb::ndarray<int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class Offset>
std::vector<std::string_view> texts_of(const Array& offsets, const Bytes& bytes,
                                       const std::optional<Bytes>& valid, int64_t first,
                                       Places codes) {
    const int64_t rows = static_cast<int64_t>(codes.shape(0));
    const Offset* starts = static_cast<const Offset*>(offsets.data()) + first;
    const Offset end = static_cast<Offset>(bytes.shape(0));
    bool in_range = starts[0] >= 0 && starts[rows] <= end;
    for (int64_t row = 0; row < rows; ++row) in_range &= starts[row] <= starts[row + 1];
    require(in_range, "an offset is out of range");
    return text_codes(starts, reinterpret_cast<const char*>(bytes.data()),
                      valid ? valid->data() : nullptr, first, rows, codes.data());
}

std::vector<std::string_view> text_codes_binding(const Array& offsets, const Bytes& bytes,
                                                 const std::optional<Bytes>& valid, int64_t first,
                                                 Places codes) {
    const int64_t end = first + static_cast<int64_t>(codes.shape(0));
    require(first >= 0 && end < static_cast<int64_t>(offsets.shape(0)) && offsets.stride(0) == 1,
            "there are too few offsets");
    require(!valid || end <= 8 * static_cast<int64_t>(valid->shape(0)), "there are too few bits");
    const DType type = dtype_of(offsets);
    require(type == DType::i32 || type == DType::i64, "offsets must be of 32 or 64 bits");
    return type == DType::i32 ? texts_of<int32_t>(offsets, bytes, valid, first, codes)
                              : texts_of<int64_t>(offsets, bytes, valid, first, codes);
}

}  // namespace

void bind_table(nb::module_& m) {
    m.def("count", &count_binding, nb::arg("columns"), nb::arg("shifts"), nb::arg("labels"),
          nb::arg("weights").none(), nb::arg("tables"),
          "Add the weight of each (code + shift, label) to tables, in place and in row order.");
    m.def("moments", &moments_binding, nb::arg("columns"), nb::arg("labels"),
          nb::arg("weights").none(), nb::arg("out"),
          "Per column and class: weight, mean, its low part, squared deviations, their low part, "
          "missing weight; merged into out.");
    m.def("merge_moments", &merge_moments_binding, nb::arg("into"), nb::arg("other"),
          "Merge two arrays of moments, in place.");
    m.def(
        "score", &score_binding, nb::arg("coded_columns"), nb::arg("shifts"), nb::arg("tables"),
        nb::arg("numeric_columns"), nb::arg("parameters"), nb::arg("intercept"), nb::arg("output"),
        nb::arg("out"), nb::arg("curves") = std::vector<PiecewiseTuple>(),
        nb::arg("pairs") = std::vector<PairTuple>(),
        "Fill out (rows, classes) with scores (output 0), log-probabilities (1) or "
        "probabilities (2); returns the place of a column with an infinite value among the "
        "numeric columns and then the curves, or -1. Curves are numbers, edges, offset, slope and "
        "missing; pairs are codes, shift and places (or None) of two columns, and a table.");
    m.def(
        "text_codes", &text_codes_binding, nb::arg("offsets"), nb::arg("bytes"),
        nb::arg("valid").none(), nb::arg("first"), nb::arg("codes"),
        "Fill codes with the places of texts, in Arrow's layout and from the row `first` on, among "
        "the distinct ones, -1 where missing; returns these.");
}

}  // namespace lessnaive
