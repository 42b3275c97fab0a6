// Linear models: the loss of rows of numbers and codes, and its derivatives.
#include <algorithm>
#include <utility>

#include "bindings/bindings.hpp"
#include "linear/linear_path.hpp"
#include "linear/linear_rows.hpp"

namespace lessnaive {
namespace {

using Integers = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

void make_rows(LinearRows* self, const std::vector<Array>& numbers, const Vector& centers,
               const std::vector<Array>& codes, const std::vector<int64_t>& shifts,
               const std::vector<int64_t>& counts, const Array& labels,
               const std::optional<Weights>& weights, int classes) {
    const int64_t rows = static_cast<int64_t>(labels.shape(0));
    require(centers.shape(0) == numbers.size(), "numbers and centers differ in number");
    require(classes > 1, "there must be two classes or more");
    require(codes.size() == shifts.size() && codes.size() == counts.size(),
            "codes, shifts and counts differ in number");
    std::vector<Column> columns;
    for (const Array& column : numbers) columns.push_back(column_of(column, rows));
    std::vector<CodedColumn> coded;
    for (size_t m = 0; m < codes.size(); ++m) {
        require(counts[m] > 0, "a coded column needs a coefficient");
        coded.push_back({codes_of(codes[m], rows), shifts[m], counts[m]});
    }
    const Column label_column = codes_of(labels, rows);
    const double* w = weights_of(weights, rows);
    nb::gil_scoped_release release;
    new (self) LinearRows(columns, centers.data(), coded, label_column, w, rows, classes);
}

template <class Input>
void require_coefficients(const LinearRows& rows, const Input& array) {
    require(static_cast<int>(array.shape(0)) == rows.outputs() &&
                static_cast<int64_t>(array.shape(1)) == rows.coefficients(),
            "the coefficients have the wrong shape");
}

double loss_binding(const LinearRows& rows, const Matrix& coefficients,
                    std::optional<Table> gradient) {
    require_coefficients(rows, coefficients);
    if (gradient) require_coefficients(rows, *gradient);
    nb::gil_scoped_release release;
    return rows.loss(coefficients.data(), gradient ? gradient->data() : nullptr);
}

void curvature_binding(const LinearRows& rows, const Matrix& coefficients, int64_t enough,
                       Table out) {
    require_coefficients(rows, coefficients);
    const size_t size = static_cast<size_t>(rows.outputs() * rows.coefficients());
    require(out.shape(0) == size && out.shape(1) == size, "out has the wrong shape");
    nb::gil_scoped_release release;
    rows.curvature(coefficients.data(), enough, out.data());
}

void probabilities_binding(const LinearRows& rows, const Matrix& coefficients, Table out) {
    require_coefficients(rows, coefficients);
    require(static_cast<int64_t>(out.shape(0)) == rows.rows() &&
                static_cast<int>(out.shape(1)) == rows.classes(),
            "out has the wrong shape");
    nb::gil_scoped_release release;
    rows.probabilities(coefficients.data(), out.data());
}

void make_path(LinearPath* self, const LinearRows& rows, const Integers& starts,
               const Integers& places, const Vector& values, const Matrix& target,
               const Matrix& factor, const Matrix& start) {
    const auto numbers = [](const auto& array) {
        return std::vector(array.data(), array.data() + array.size());
    };
    SparseMatrix coordinates{static_cast<int64_t>(starts.size()) - 1,
                             static_cast<int64_t>(target.shape(1)), numbers(starts),
                             numbers(places), numbers(values)};
    require(coordinates.rows == rows.coefficients() && places.size() == values.size() &&
                coordinates.starts.front() == 0 &&
                coordinates.starts.back() == static_cast<int64_t>(places.size()) &&
                std::is_sorted(coordinates.starts.begin(), coordinates.starts.end()),
            "the coordinates are no matrix of the rows");
    for (int64_t place : coordinates.places)
        require(0 <= place && place < coordinates.columns, "a place is outside of the matrix");
    for (const Matrix* each : {&target, &factor, &start})
        require(static_cast<int>(each->shape(0)) == rows.outputs() &&
                    static_cast<int64_t>(each->shape(1)) == coordinates.columns,
                "target, factor and start must be of one shape");
    nb::gil_scoped_release release;
    new (self)
        LinearPath(rows, std::move(coordinates), numbers(target), numbers(factor), numbers(start));
}

std::tuple<int, bool> minimize_binding(LinearPath& path, double l1, double l2, double tolerance,
                                       int max_passes, Table out) {
    require(static_cast<int64_t>(out.size()) == path.size(), "out has the wrong shape");
    nb::gil_scoped_release release;
    const LinearPath::Found found = path.minimize(l1, l2, tolerance, max_passes);
    std::copy(found.weights.begin(), found.weights.end(), out.data());
    return {found.passes, found.finished};
}

}  // namespace

void bind_linear(nb::module_& m) {
    nb::class_<LinearRows>(m, "LinearRows", "Rows of a linear model: numbers and codes.")
        .def("__init__", &make_rows, nb::arg("numbers"), nb::arg("centers"), nb::arg("codes"),
             nb::arg("shifts"), nb::arg("counts"), nb::arg("labels"), nb::arg("weights").none(),
             nb::arg("classes"))
        .def_prop_ro("rows", &LinearRows::rows)
        .def_prop_ro("classes", &LinearRows::classes)
        .def_prop_ro("outputs", &LinearRows::outputs)
        .def_prop_ro("coefficients", &LinearRows::coefficients)
        .def_prop_ro("total_weight", &LinearRows::total_weight)
        .def("loss", &loss_binding, nb::arg("coefficients"), nb::arg("gradient").none(),
             "Negative log-likelihood at coefficients (outputs x coefficients: intercept, numbers, "
             "codes); fills its gradient unless None.")
        .def("curvature", &curvature_binding, nb::arg("coefficients"), nb::arg("enough"),
             nb::arg("out"),
             "Fill out with the Hessian by all coefficients, of so many rows or more at even "
             "distances.")
        .def("probabilities", &probabilities_binding, nb::arg("coefficients"), nb::arg("out"),
             "Fill out (rows x classes) with probabilities.");
    nb::class_<LinearPath>(m, "LinearPath",
                           "Minima of a penalized linear model, for one penalty after the other.")
        .def("__init__", &make_path, nb::arg("rows"), nb::arg("starts"), nb::arg("places"),
             nb::arg("values"), nb::arg("target"), nb::arg("factor"), nb::arg("start"),
             nb::keep_alive<1, 2>())
        .def("minimize", &minimize_binding, nb::arg("l1"), nb::arg("l2"), nb::arg("tolerance"),
             nb::arg("max_passes"), nb::arg("out"),
             "Fill out with the weights at this penalty, to which those at the last one lead. "
             "Returns how often the rows were looked at, and whether that was enough.");
}

}  // namespace lessnaive
