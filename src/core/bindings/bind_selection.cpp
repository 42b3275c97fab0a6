// Scans of candidate columns, and dependence between columns.
#include <utility>

#include "bindings/bindings.hpp"
#include "search/contingency.hpp"
#include "search/selection.hpp"

namespace lessnaive {
namespace {

// codes, shift and table of a lookup
using LookupTuple = std::tuple<Array, int64_t, Matrix>;
// numbers and parameters of a parabola
using QuadraticTuple = std::tuple<Array, Matrix>;

// Columns that are scored by codes come first, then those by parabolas and by other curves.
std::vector<ColumnEvidence> evidence_of(const std::vector<LookupTuple>& lookups,
                                        const std::vector<QuadraticTuple>& quadratics,
                                        const std::vector<PiecewiseTuple>& curves, int64_t rows,
                                        size_t classes) {
    std::vector<ColumnEvidence> out;
    for (const auto& [codes, shift, table] : lookups) {
        require(table.shape(1) == classes && table.shape(0) > 0, "a table has the wrong shape");
        out.emplace_back(Lookup{
            {codes_of(codes, rows), shift, static_cast<int64_t>(table.shape(0))}, table.data()});
    }
    for (const auto& [numbers, parameters] : quadratics) {
        require(parameters.shape(0) == 5 && parameters.shape(1) == classes,
                "parameters have the wrong shape");
        out.emplace_back(Quadratic{column_of(numbers, rows), parameters.data()});
    }
    for (const PiecewiseTuple& curve : curves) out.emplace_back(piecewise_of(curve, rows, classes));
    return out;
}

std::vector<std::tuple<double, double>> scan_binding(const std::vector<LookupTuple>& lookups,
                                                     const std::vector<QuadraticTuple>& quadratics,
                                                     const std::vector<int64_t>& judged,
                                                     const Matrix& scores, const Array& labels,
                                                     const std::optional<Weights>& weights,
                                                     bool leave_one_out, bool with_log_loss,
                                                     const std::vector<PiecewiseTuple>& curves) {
    const int64_t rows = static_cast<int64_t>(scores.shape(1));
    const size_t classes = scores.shape(0);
    require(classes > 0, "scores have the wrong shape");
    const std::vector<ColumnEvidence> columns =
        evidence_of(lookups, quadratics, curves, rows, classes);
    int64_t before = -1;
    for (int64_t place : judged) {
        require(before < place && place < static_cast<int64_t>(columns.size()),
                "judged columns must be ascending places of columns");
        before = place;
    }
    const ScoredRows view{codes_of(labels, rows), weights_of(weights, rows), rows,
                          static_cast<int>(classes), scores.data()};
    std::vector<std::tuple<double, double>> out;
    std::vector<ScanLoss> losses;
    {
        nb::gil_scoped_release release;
        losses = scan(columns, judged, view, leave_one_out, with_log_loss);
    }
    for (const ScanLoss& loss : losses) out.emplace_back(loss.error, loss.log_loss);
    return out;
}

void add_evidence_binding(const std::vector<LookupTuple>& lookups,
                          const std::vector<QuadraticTuple>& quadratics, Table scores,
                          const std::vector<PiecewiseTuple>& curves) {
    const int64_t rows = static_cast<int64_t>(scores.shape(1));
    const std::vector<ColumnEvidence> columns =
        evidence_of(lookups, quadratics, curves, rows, scores.shape(0));
    const int classes = static_cast<int>(scores.shape(0));
    double* cells = scores.data();
    nb::gil_scoped_release release;
    add_evidence(columns, rows, classes, cells);
}

std::vector<double> symmetrical_uncertainty_binding(const Array& column, int64_t codes,
                                                    const std::vector<Array>& others,
                                                    const std::vector<int64_t>& other_codes,
                                                    const std::optional<Weights>& weights,
                                                    bool spread_missing) {
    const int64_t rows = static_cast<int64_t>(column.shape(0));
    require(others.size() == other_codes.size(), "columns and numbers of codes differ in number");
    require(codes > 0 && codes < (int64_t{1} << 32), "wrong number of codes");
    std::vector<CodedColumn> views;
    for (size_t j = 0; j < others.size(); ++j) {
        require(other_codes[j] > 0 && other_codes[j] < (int64_t{1} << 32), "wrong number of codes");
        views.push_back({codes_of(others[j], rows), 0, other_codes[j]});
    }
    const CodedColumn view{codes_of(column, rows), 0, codes};
    const double* w = weights_of(weights, rows);
    nb::gil_scoped_release release;
    return symmetrical_uncertainty(view, views, w, rows,
                                   spread_missing ? Missing::spread : Missing::category);
}

}  // namespace

void bind_selection(nb::module_& m) {
    m.def("scan", &scan_binding, nb::arg("lookups"), nb::arg("quadratics"), nb::arg("judged"),
          nb::arg("scores"), nb::arg("labels"), nb::arg("weights").none(), nb::arg("leave_one_out"),
          nb::arg("with_log_loss"), nb::arg("curves") = std::vector<PiecewiseTuple>(),
          "Weight classified wrongly and sum of log-losses, for each judged column: with scores "
          "(classes, rows) plus that column, or plus all columns but that one.");
    m.def("add_evidence", &add_evidence_binding, nb::arg("lookups"), nb::arg("quadratics"),
          nb::arg("scores"), nb::arg("curves") = std::vector<PiecewiseTuple>(),
          "Add what columns say to scores (classes, rows), in place.");
    m.def("symmetrical_uncertainty", &symmetrical_uncertainty_binding, nb::arg("column"),
          nb::arg("codes"), nb::arg("others"), nb::arg("other_codes"), nb::arg("weights").none(),
          nb::arg("spread_missing"),
          "Symmetrical uncertainty of a column of codes (0 is missing) with each of the others.");
}

}  // namespace lessnaive
