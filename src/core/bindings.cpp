// What Python sees of the core. Arrays are checked here; the kernels trust what they are given.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "counting.hpp"
#include "discretize.hpp"
#include "grouping.hpp"
#include "moments.hpp"
#include "parallel.hpp"
#include "scoring.hpp"

namespace nb = nanobind;
using namespace lessnaive;

namespace {

using Array = nb::ndarray<nb::ro, nb::ndim<1>, nb::device::cpu>;
using Weights = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Vector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Table = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Codes = nb::ndarray<uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Cube = nb::ndarray<double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

void require(bool condition, const char* message) {
    if (!condition) throw std::invalid_argument(message);
}

DType dtype_of(const Array& array) {
    const nb::dlpack::dtype type = array.dtype();
    if (type == nb::dtype<uint8_t>()) return DType::u8;
    if (type == nb::dtype<int8_t>()) return DType::i8;
    if (type == nb::dtype<uint16_t>()) return DType::u16;
    if (type == nb::dtype<int16_t>()) return DType::i16;
    if (type == nb::dtype<uint32_t>()) return DType::u32;
    if (type == nb::dtype<int32_t>()) return DType::i32;
    if (type == nb::dtype<uint64_t>()) return DType::u64;
    if (type == nb::dtype<int64_t>()) return DType::i64;
    if (type == nb::dtype<float>()) return DType::f32;
    if (type == nb::dtype<double>()) return DType::f64;
    throw std::invalid_argument("a column must be of integers or of 32- or 64-bit floats");
}

Column column_of(const Array& array, int64_t rows) {
    require(static_cast<int64_t>(array.shape(0)) == rows, "columns differ in length");
    return {static_cast<const char*>(array.data()),
            array.stride(0) * static_cast<int64_t>(array.itemsize()), dtype_of(array)};
}

Column codes_of(const Array& array, int64_t rows) {
    const Column column = column_of(array, rows);
    require(column.dtype != DType::f32 && column.dtype != DType::f64, "codes must be integers");
    return column;
}

const double* weights_of(const std::optional<Weights>& weights, int64_t rows) {
    if (!weights) return nullptr;
    require(static_cast<int64_t>(weights->shape(0)) == rows, "weights differ in length");
    return weights->data();
}

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

int64_t score_binding(const std::vector<Array>& coded_columns, const std::vector<int64_t>& shifts,
                      const std::vector<Matrix>& tables, const std::vector<Array>& numeric_columns,
                      const std::vector<Matrix>& parameters, const Vector& intercept, int output,
                      Table out) {
    const int64_t rows = static_cast<int64_t>(out.shape(0));
    const size_t classes = out.shape(1);
    require(classes > 0 && intercept.shape(0) == classes, "the intercept has the wrong length");
    require(coded_columns.size() == shifts.size() && coded_columns.size() == tables.size() &&
                numeric_columns.size() == parameters.size(),
            "columns and terms differ in number");
    require(output >= 0 && output <= 2, "unknown output");
    std::vector<Lookup> lookups;
    for (size_t j = 0; j < coded_columns.size(); ++j) {
        require(tables[j].shape(1) == classes && tables[j].shape(0) > 0,
                "a table has the wrong shape");
        lookups.push_back({{codes_of(coded_columns[j], rows), shifts[j],
                            static_cast<int64_t>(tables[j].shape(0))},
                           tables[j].data()});
    }
    std::vector<Quadratic> quadratics;
    for (size_t j = 0; j < numeric_columns.size(); ++j) {
        require(parameters[j].shape(0) == 4 && parameters[j].shape(1) == classes,
                "parameters have the wrong shape");
        quadratics.push_back({column_of(numeric_columns[j], rows), parameters[j].data()});
    }
    nb::gil_scoped_release release;
    return score(lookups, quadratics, intercept.data(), rows, static_cast<int>(classes),
                 static_cast<Output>(output), out.data());
}

bool all_whole(const double* values, size_t size) {
    return std::all_of(values, values + size, [](double v) { return v == std::floor(v); });
}

// edges, counts, missing bin, cost, null cost, prior cost
using BinsTuple =
    std::tuple<std::vector<double>, std::vector<double>, int64_t, double, double, double>;

std::vector<BinsTuple> discretize_binding(const std::vector<Array>& columns, const Array& labels,
                                          const std::optional<Weights>& weights, int classes,
                                          bool modl, bool use_missing, int64_t exact_parts) {
    const int64_t rows = static_cast<int64_t>(labels.shape(0));
    require(rows < (int64_t{1} << 32), "too many rows");
    std::vector<Column> views;
    for (const Array& column : columns) views.push_back(column_of(column, rows));
    const Column label_column = codes_of(labels, rows);
    const double* w = weights_of(weights, rows);
    std::vector<BinsTuple> out(columns.size());
    nb::gil_scoped_release release;
    const bool whole = w == nullptr || all_whole(w, rows);
    // Weights may add up to much more than the rows, and a table for all of that be too long.
    const LogFactorial log_factorial(static_cast<double>(modl ? rows + classes : 0), whole,
                                     w == nullptr);
    const Bits bits(modl ? 0 : rows, whole);
    const int64_t tasks = static_cast<int64_t>(columns.size());
    parallel_for(tasks, rows * tasks, [&](int64_t j) {
        SortedColumn sorted = sort_column(views[j], label_column, w, rows, classes);
        const Bins bins = modl ? discretize_modl(std::move(sorted), classes, log_factorial,
                                                 use_missing, exact_parts)
                               : discretize_mdlp(sorted, classes, bits);
        out[j] = {bins.edges, bins.counts,    bins.missing_bin,
                  bins.cost,  bins.null_cost, bins.prior_cost};
    });
    return out;
}

// group of each value, counts, cost, null cost, prior cost
using GroupsTuple = std::tuple<std::vector<int32_t>, std::vector<double>, double, double, double>;

std::vector<GroupsTuple> group_binding(const std::vector<Matrix>& tables) {
    std::vector<GroupsTuple> out(tables.size());
    int64_t cells = 0;
    for (const Matrix& table : tables) {
        require(table.shape(1) > 0, "a table has the wrong shape");
        cells += static_cast<int64_t>(table.size());
    }
    nb::gil_scoped_release release;
    parallel_for(static_cast<int64_t>(tables.size()), cells * 64, [&](int64_t j) {
        const Matrix& table = tables[j];
        const Groups groups =
            group_values(table.data(), static_cast<int64_t>(table.shape(0)),
                         static_cast<int>(table.shape(1)), all_whole(table.data(), table.size()));
        out[j] = {groups.group_of, groups.counts, groups.cost, groups.null_cost, groups.prior_cost};
    });
    return out;
}

void digitize_binding(const Array& column, const Vector& edges, Codes out) {
    const int64_t rows = static_cast<int64_t>(out.shape(0));
    const Column view = column_of(column, rows);
    const double* first_edge = edges.data();
    const int64_t count = static_cast<int64_t>(edges.shape(0));
    uint32_t* codes = out.data();
    nb::gil_scoped_release release;
    digitize(view, first_edge, count, rows, codes);
}

}  // namespace

NB_MODULE(_core, m) {
    m.doc() = "Kernels of lessnaive: counting, moments and scoring over the columns of a table.";
    m.def("count", &count_binding, nb::arg("columns"), nb::arg("shifts"), nb::arg("labels"),
          nb::arg("weights").none(), nb::arg("tables"),
          "Add the weight of each (code + shift, label) to tables, in place and in row order.");
    m.def("moments", &moments_binding, nb::arg("columns"), nb::arg("labels"),
          nb::arg("weights").none(), nb::arg("out"),
          "Per column and class: weight, mean, its low part, squared deviations, their low part, "
          "missing weight; merged into out.");
    m.def("merge_moments", &merge_moments_binding, nb::arg("into"), nb::arg("other"),
          "Merge two arrays of moments, in place.");
    m.def("score", &score_binding, nb::arg("coded_columns"), nb::arg("shifts"), nb::arg("tables"),
          nb::arg("numeric_columns"), nb::arg("parameters"), nb::arg("intercept"),
          nb::arg("output"), nb::arg("out"),
          "Fill out (rows, classes) with scores (output 0), log-probabilities (1) or "
          "probabilities (2); returns the index of a numeric column with an infinite value or -1.");
    m.def("discretize", &discretize_binding, nb::arg("columns"), nb::arg("labels"),
          nb::arg("weights").none(), nb::arg("classes"), nb::arg("modl"), nb::arg("use_missing"),
          nb::arg("exact_parts") = kExactParts,
          "Supervised bins of numeric columns, by MODL or by MDLP: for each column its edges, "
          "counts (bins x classes), bin of the missing values or -1, cost, null cost, prior cost.");
    m.def(
        "group", &group_binding, nb::arg("tables"),
        "Supervised groups of values, by MODL, from counts (values x classes): for each table the "
        "group of each value, counts (groups x classes), cost, null cost, prior cost.");
    m.def("digitize", &digitize_binding, nb::arg("column"), nb::arg("edges"), nb::arg("out"),
          "Codes of numbers: 0 where missing, else 1 + the number of edges below.");
    m.def("max_threads", &max_threads, "Number of threads that the kernels use.");
}
