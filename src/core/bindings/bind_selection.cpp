// Scans of candidate columns, and dependence between columns.
#include <utility>

#include "bindings/bindings.hpp"
#include "bindings/checks.hpp"
#include "bindings/curves.hpp"
#include "bindings/overlap.hpp"
#include "bindings/released.hpp"
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
                                        int classes, Memory& used) {
    std::vector<ColumnEvidence> out;
    for (const auto& [codes, shift, table] : lookups) {
        require(length(table, 1) == classes, "a table has the wrong shape");
        used.read(codes).read(table);
        out.emplace_back(Lookup{codes_of(codes, rows, shift, length(table)), table.data()});
    }
    for (const auto& [numbers, parameters] : quadratics) {
        require(has_shape(parameters, {5, classes}), "parameters have the wrong shape");
        used.read(numbers).read(parameters);
        out.emplace_back(Quadratic{column_of(numbers, rows), parameters.data()});
    }
    for (const PiecewiseTuple& curve : curves)
        out.emplace_back(piecewise_of(curve, rows, classes, used));
    return out;
}

std::vector<std::tuple<double, double>> scan_binding(const std::vector<LookupTuple>& lookups,
                                                     const std::vector<QuadraticTuple>& quadratics,
                                                     const std::vector<int64_t>& judged,
                                                     const Matrix& scores, const Array& labels,
                                                     const std::optional<Weights>& weights,
                                                     bool leave_one_out, bool with_log_loss,
                                                     const std::vector<PiecewiseTuple>& curves) {
    const int64_t rows = length(scores, 1);
    const int classes = classes_of(length(scores));
    Memory used;
    const std::vector<ColumnEvidence> columns =
        evidence_of(lookups, quadratics, curves, rows, classes, used);
    used.read(scores).read(weights).require_apart();
    int64_t before = -1;
    for (int64_t place : judged) {
        require(before < place && place < static_cast<int64_t>(columns.size()),
                "judged columns must be ascending places of columns");
        before = place;
    }
    const ScoredRows view{labels_of(labels, rows, classes), weights_of(weights, rows), rows,
                          classes, scores.data()};
    std::vector<std::tuple<double, double>> out;
    std::vector<ScanLoss> losses;
    {
        const Released release;
        losses = scan(columns, judged, view, leave_one_out, with_log_loss);
    }
    for (const ScanLoss& loss : losses) out.emplace_back(loss.error, loss.log_loss);
    return out;
}

void add_evidence_binding(const std::vector<LookupTuple>& lookups,
                          const std::vector<QuadraticTuple>& quadratics, Table scores,
                          const std::vector<PiecewiseTuple>& curves) {
    const int64_t rows = length(scores, 1);
    const int classes = classes_of(length(scores));
    Memory used;
    const std::vector<ColumnEvidence> columns =
        evidence_of(lookups, quadratics, curves, rows, classes, used);
    used.fill(scores).require_apart();
    double* cells = scores.data();
    const Released release;
    add_evidence(columns, rows, classes, cells);
}

// Counts of this many codes still fit into memory.
constexpr int64_t kMostCodes = 1 << 26;

CodedColumn complete_codes(const Array& column, int64_t rows, int64_t codes) {
    require(codes > 0 && codes <= kMostCodes, "wrong number of codes");
    const CodedColumn out = codes_of(column, rows, 0, codes);
    require(all_below(out.column, rows, codes), "a code is out of range");
    return out;
}

std::vector<double> symmetrical_uncertainty_binding(const Array& column, int64_t codes,
                                                    const std::vector<Array>& others,
                                                    const std::vector<int64_t>& other_codes,
                                                    const std::optional<Weights>& weights,
                                                    bool spread_missing) {
    const int64_t rows = length(column);
    require(others.size() == other_codes.size(), "columns and numbers of codes differ in number");
    Memory().read(weights).require_apart();
    std::vector<CodedColumn> views;
    for (size_t j = 0; j < others.size(); ++j)
        views.push_back(complete_codes(others[j], rows, other_codes[j]));
    const CodedColumn view = complete_codes(column, rows, codes);
    const double* w = weights_of(weights, rows);
    const Released release;
    return symmetrical_uncertainty(view, views, w, rows,
                                   spread_missing ? Missing::spread : Missing::category);
}

}  // namespace

void bind_selection(nb::module_& m) {
    m.def("scan", &scan_binding, array_arg("lookups"), array_arg("quadratics"), nb::arg("judged"),
          array_arg("scores"), array_arg("labels"), array_or_none("weights"),
          nb::arg("leave_one_out"), nb::arg("with_log_loss"),
          array_arg("curves") = std::vector<PiecewiseTuple>(),
          "Weight classified wrongly and sum of log-losses, for each judged column: with scores "
          "(classes, rows) plus that column, or plus all columns but that one.");
    m.def("add_evidence", &add_evidence_binding, array_arg("lookups"), array_arg("quadratics"),
          array_arg("scores"), array_arg("curves") = std::vector<PiecewiseTuple>(),
          "Add what columns say to scores (classes, rows), in place.");
    m.def("symmetrical_uncertainty", &symmetrical_uncertainty_binding, array_arg("column"),
          nb::arg("codes"), array_arg("others"), nb::arg("other_codes"), array_or_none("weights"),
          nb::arg("spread_missing"),
          "Symmetrical uncertainty of a column of codes (0 is missing) with each of the others.");
}

}  // namespace lessnaive
