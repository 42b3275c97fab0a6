// The scan of stagewise naive Bayes.
#include "bindings/bindings.hpp"
#include "bindings/checks.hpp"
#include "bindings/overlap.hpp"
#include "bindings/released.hpp"
#include "search/stagewise.hpp"

namespace lessnaive {
namespace {

void scan_binding(const std::vector<Array>& coded_columns, const std::vector<int64_t>& shifts,
                  const std::vector<Levels>& tables, const std::vector<Array>& numeric_columns,
                  const std::vector<Levels>& parameters, const std::vector<int64_t>& levels,
                  const Array& labels, const std::optional<Weights>& weights, const Matrix& scores,
                  bool log_loss, double tolerance, Table out) {
    const int64_t rows = length(scores), steps = length(out, 1);
    const int classes = classes_of(length(scores, 1));
    const size_t n_tables = tables.size();
    require(coded_columns.size() == shifts.size() && coded_columns.size() == n_tables &&
                numeric_columns.size() == parameters.size() &&
                levels.size() == n_tables + parameters.size() && out.shape(0) == levels.size(),
            "columns, tables and levels differ in number");
    require(steps % kStepLanes == 0, "out has the wrong shape");
    require(tolerance >= 0, "the tolerance must not be negative");
    Memory used;
    used.fill(out).read(coded_columns).read(tables).read(numeric_columns).read(parameters);
    used.read(labels).read(weights).read(scores).require_apart();
    const auto check = [&](const Levels& table, int64_t level) {
        const int64_t width = length(table, 2);
        require(length(table, 1) == classes && 0 <= level && level < width && steps < width - level,
                "a table has the wrong shape");
        return width;
    };
    std::vector<LevelTable> coded;
    std::vector<LevelParabola> numeric;
    for (size_t j = 0; j < n_tables; ++j)
        coded.push_back({codes_of(coded_columns[j], rows, shifts[j], length(tables[j])),
                         tables[j].data(), check(tables[j], levels[j]), levels[j]});
    for (size_t j = 0; j < parameters.size(); ++j) {
        require(parameters[j].shape(0) == 5, "parameters have the wrong shape");
        const int64_t level = levels[n_tables + j];
        numeric.push_back({column_of(numeric_columns[j], rows), parameters[j].data(),
                           check(parameters[j], level), level});
    }
    const ScanRows scanned{labels_of(labels, rows, classes), weights_of(weights, rows),
                           scores.data(), rows, classes};
    const Released release;
    scan_steps(coded, numeric, scanned, steps, log_loss ? StepLoss::log_loss : StepLoss::error,
               tolerance, out.data());
}

}  // namespace

void bind_stagewise(nb::module_& m) {
    m.attr("STEP_LANES") = kStepLanes;
    m.def("scan_steps", &scan_binding, array_arg("coded_columns"), nb::arg("shifts"),
          array_arg("tables"), array_arg("numeric_columns"), array_arg("parameters"),
          nb::arg("levels"), array_arg("labels"), array_or_none("weights"), array_arg("scores"),
          nb::arg("log_loss"), nb::arg("tolerance"), array_arg("out"),
          "Fill out (columns, steps) with the weight of wrong rows, or the log-loss, after 1, 2, "
          "... steps in each column: coded columns with tables (codes, classes, levels) first, "
          "then numeric columns with parameters (5, classes, levels).");
}

}  // namespace lessnaive
