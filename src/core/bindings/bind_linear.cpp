// Linear models: the loss of rows of numbers and codes, and its derivatives.
#include <nanobind/stl/pair.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "bindings/bindings.hpp"
#include "bindings/checks.hpp"
#include "bindings/in_use.hpp"
#include "bindings/overlap.hpp"
#include "bindings/paths.hpp"
#include "bindings/released.hpp"
#include "linear/linear_curvature.hpp"
#include "linear/linear_path.hpp"
#include "linear/linear_rows.hpp"

namespace lessnaive {
namespace {

// More coefficients than a matrix of their products has room for.
constexpr int64_t kMostCoefficients = INT32_MAX;

void make_rows(LinearRows* self, const std::vector<Array>& numbers, const Vector& centers,
               const std::vector<Array>& codes, const std::vector<int64_t>& shifts,
               const std::vector<int64_t>& counts, const Array& labels,
               const std::optional<Weights>& weights, int classes) {
    const int64_t rows = length(labels);
    require(centers.shape(0) == numbers.size(), "numbers and centers differ in number");
    require(classes_of(classes) > 1, "there must be two classes or more");
    require(codes.size() == shifts.size() && codes.size() == counts.size(),
            "codes, shifts and counts differ in number");
    Memory().read(centers).read(weights).require_apart();
    const std::vector<Column> columns = columns_of(numbers, rows);
    std::vector<CodedColumn> coded;
    int64_t coefficients = 1 + static_cast<int64_t>(numbers.size());
    for (size_t m = 0; m < codes.size(); ++m) {
        require(counts[m] > 0, "a coded column needs a coefficient");
        coded.push_back(codes_of(codes[m], rows, shifts[m], counts[m]));
        coefficients += counts[m];
        require(coefficients <= kMostCoefficients, "there are too many coefficients");
    }
    const Column label_column = labels_of(labels, rows, classes);
    const double* w = weights_of(weights, rows);
    const Released release;
    new (self) LinearRows(columns, centers.data(), coded, label_column, w, rows, classes);
}

template <class Input>
void require_coefficients(const LinearRows& rows, const Input& array) {
    require(has_shape(array, {rows.outputs(), rows.coefficients()}),
            "the coefficients have the wrong shape");
}

double loss_binding(const LinearRows& rows, const Matrix& coefficients,
                    std::optional<Table> gradient) {
    require_coefficients(rows, coefficients);
    if (gradient) require_coefficients(rows, *gradient);
    Memory().fill(gradient).read(coefficients).require_apart();
    const Released release;
    return rows.loss(coefficients.data(), gradient ? gradient->data() : nullptr);
}

// The places of chosen coefficients.
std::vector<int64_t> chosen_of(const LinearRows& rows, const Integers& chosen) {
    const int64_t size = length(chosen);
    const std::vector<int64_t> places(chosen.data(), chosen.data() + size);
    for (int64_t i = 0; i < size; ++i)
        require((i == 0 ? 0 : places[i - 1] + 1) <= places[i] &&
                    places[i] < rows.outputs() * rows.coefficients(),
                "chosen must be places of coefficients in ascending order");
    return places;
}

void curvature_binding(const LinearRows& rows, const Matrix& coefficients, int64_t enough,
                       const Integers& chosen, Table out, double negligible) {
    require_coefficients(rows, coefficients);
    require(has_shape(out, {length(chosen), length(chosen)}), "out has the wrong shape");
    require(enough > 0, "no rows to look at");
    require(negligible >= 0, "what is negligible cannot be negative");
    const std::vector<int64_t> places = chosen_of(rows, chosen);
    Memory().fill(out).read(coefficients).read(chosen).require_apart();
    const Released release;
    curvature(rows, coefficients.data(), enough, places, out.data(), negligible);
}

double curvature_of_part_binding(const LinearRows& part, int64_t whole, int64_t first,
                                 const Matrix& coefficients, int64_t enough, const Integers& chosen,
                                 Table out) {
    require_coefficients(part, coefficients);
    require(has_shape(out, {length(chosen), length(chosen)}), "out has the wrong shape");
    require(enough > 0, "no rows to look at");
    require(first >= 0 && whole >= part.rows() && first <= whole - part.rows(),
            "the part is not within the whole");
    const std::vector<int64_t> places = chosen_of(part, chosen);
    Memory().fill(out).read(coefficients).read(chosen).require_apart();
    const Released release;
    return curvature_of_part(part, whole, first, coefficients.data(), enough, places, out.data());
}

void make_curvature(LinearCurvature* self, const LinearRows& rows, const Matrix& coefficients,
                    bool cautious) {
    require_coefficients(rows, coefficients);
    Memory().read(coefficients).require_apart();
    const Released release;
    new (self) LinearCurvature(rows, coefficients.data(), cautious);
}

void multiply_binding(const LinearCurvature& curvature, const Matrix& vector, Table out) {
    require(has_shape(vector, {curvature.outputs(), curvature.coefficients()}) &&
                has_shape(out, {curvature.outputs(), curvature.coefficients()}),
            "the coefficients have the wrong shape");
    Memory().fill(out).read(vector).require_apart();
    const Released release;
    curvature.multiply(vector.data(), out.data());
}

void diagonal_binding(const LinearCurvature& curvature, Table squares, Table with_intercept) {
    for (const Table* out : {&squares, &with_intercept})
        require(has_shape(*out, {curvature.outputs(), curvature.coefficients()}),
                "the coefficients have the wrong shape");
    Memory().fill(squares).fill(with_intercept).require_apart();
    const Released release;
    curvature.diagonal(squares.data(), with_intercept.data());
}

void probabilities_binding(const LinearRows& rows, const Matrix& coefficients, Table out) {
    require_coefficients(rows, coefficients);
    require(has_shape(out, {rows.rows(), rows.classes()}), "out has the wrong shape");
    Memory().fill(out).read(coefficients).require_apart();
    const Released release;
    rows.probabilities(coefficients.data(), out.data());
}

void make_path(LinearPath* self, const LinearRows& rows, const Integers& starts,
               const Integers& places, const Vector& values, const Matrix& target,
               const Matrix& factor, const Matrix& start) {
    const auto numbers = [](const auto& array) {
        return std::vector(array.data(), array.data() + array.size());
    };
    Memory used;
    used.read(starts).read(places).read(values).read(target).read(factor).read(start);
    used.require_apart();
    SparseMatrix coordinates{length(starts) - 1, length(target, 1), numbers(starts),
                             numbers(places), numbers(values)};
    require(coordinates.rows == rows.coefficients() && places.size() == values.size() &&
                coordinates.starts.front() == 0 &&
                coordinates.starts.back() == static_cast<int64_t>(places.size()) &&
                std::is_sorted(coordinates.starts.begin(), coordinates.starts.end()),
            "the coordinates are no matrix of the rows");
    for (int64_t place : coordinates.places)
        require(0 <= place && place < coordinates.columns, "a place is outside of the matrix");
    for (const Matrix* each : {&target, &factor, &start})
        require(has_shape(*each, {rows.outputs(), coordinates.columns}),
                "target, factor and start must be of one shape");
    require(are_weights(factor.data(), static_cast<int64_t>(factor.size())),
            "factors must be finite and not negative");
    const Released release;
    new (self)
        LinearPath(rows, std::move(coordinates), numbers(target), numbers(factor), numbers(start));
}

}  // namespace

void bind_linear(nb::module_& m) {
    nb::class_<LinearRows>(m, "LinearRows", "Rows of a linear model: numbers and codes.")
        .def("__init__", &make_rows, array_arg("numbers"), array_arg("centers"), array_arg("codes"),
             nb::arg("shifts"), nb::arg("counts"), array_arg("labels"), array_or_none("weights"),
             nb::arg("classes"))
        .def_prop_ro("rows", &LinearRows::rows)
        .def_prop_ro("classes", &LinearRows::classes)
        .def_prop_ro("outputs", &LinearRows::outputs)
        .def_prop_ro("coefficients", &LinearRows::coefficients)
        .def_prop_ro("entries", &LinearRows::entries)
        .def_prop_ro("total_weight", &LinearRows::total_weight)
        .def_prop_ro("weight_range", &LinearRows::weight_range,
                     "The smallest weight of a row above 0, and the largest.")
        .def_prop_ro("nbytes", &LinearRows::bytes)
        .def("loss", &loss_binding, array_arg("coefficients"), array_or_none("gradient"),
             "Negative log-likelihood at coefficients (outputs x coefficients: intercept, numbers, "
             "codes); fills its gradient unless None.")
        .def("curvature", &curvature_binding, array_arg("coefficients"), nb::arg("enough"),
             array_arg("chosen"), array_arg("out"), nb::arg("negligible") = 0.0,
             "Fill out with the Hessian by the chosen coefficients, whose places are in ascending "
             "order, of so many rows or more at even distances; without rows between two classes "
             "the product of whose probabilities is at most so large a share of the rarer class.")
        .def("curvature_of_part", &curvature_of_part_binding, nb::arg("whole"), nb::arg("first"),
             array_arg("coefficients"), nb::arg("enough"), array_arg("chosen"), array_arg("out"),
             "The same, not scaled up, from those of the rows that the whole table would look at, "
             "which has `whole` rows, those here from `first` on. Returns the weight of the rows "
             "looked at.")
        .def("probabilities", &probabilities_binding, array_arg("coefficients"), array_arg("out"),
             "Fill out (rows x classes) with probabilities.");
    nb::class_<LinearCurvature>(m, "LinearCurvature",
                                "The Hessian of the loss of a linear model, as a map.")
        .def("__init__", &make_curvature, nb::arg("rows"), array_arg("coefficients"),
             nb::arg("cautious") = false, nb::keep_alive<1, 2>(),
             "At some coefficients; a cautious one is that of a parabola above the loss, or with "
             "more than two classes about so.")
        .def_prop_ro("nbytes", &LinearCurvature::bytes)
        .def("multiply", &multiply_binding, array_arg("vector"), array_arg("out"),
             "Fill out with the product with a vector, both outputs x coefficients.")
        .def("diagonal", &diagonal_binding, array_arg("squares"), array_arg("with_intercept"),
             "Fill squares with the diagonal, and with_intercept with the second derivatives by a "
             "coefficient and the intercept.");
    nb::class_<LinearPath> path(
        m, "LinearPath", "Minima of a penalized linear model, for one penalty after the other.");
    path.def("__init__", &make_path, nb::arg("rows"), array_arg("starts"), array_arg("places"),
             array_arg("values"), array_arg("target"), array_arg("factor"), array_arg("start"),
             nb::keep_alive<1, 2>());
    bind_path(path);
}

}  // namespace lessnaive
