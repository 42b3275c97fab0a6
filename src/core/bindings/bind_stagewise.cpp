// The scan of stagewise naive Bayes.
#include "bindings/bindings.hpp"
#include "search/stagewise.hpp"

namespace lessnaive {
namespace {

using Levels = nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

void scan_binding(const std::vector<Array>& coded_columns, const std::vector<int64_t>& shifts,
                  const std::vector<Levels>& tables, const std::vector<Array>& numeric_columns,
                  const std::vector<Levels>& parameters, const std::vector<int64_t>& levels,
                  const Array& labels, const std::optional<Weights>& weights, const Matrix& scores,
                  bool log_loss, double tolerance, Table out) {
    const int64_t rows = static_cast<int64_t>(scores.shape(0));
    const int64_t steps = static_cast<int64_t>(out.shape(1));
    const size_t classes = scores.shape(1), n_tables = tables.size();
    require(coded_columns.size() == shifts.size() && coded_columns.size() == n_tables &&
                numeric_columns.size() == parameters.size() &&
                levels.size() == n_tables + parameters.size() && out.shape(0) == levels.size(),
            "columns, tables and levels differ in number");
    require(classes > 0 && steps % kStepLanes == 0, "out has the wrong shape");
    const auto check = [&](const Levels& table, int64_t level) {
        require(table.shape(0) > 0 && table.shape(1) == classes && level >= 0 &&
                    level + steps < static_cast<int64_t>(table.shape(2)),
                "a table has the wrong shape");
        return static_cast<int64_t>(table.shape(2));
    };
    std::vector<LevelTable> coded;
    std::vector<LevelParabola> numeric;
    for (size_t j = 0; j < n_tables; ++j)
        coded.push_back({{codes_of(coded_columns[j], rows), shifts[j],
                          static_cast<int64_t>(tables[j].shape(0))},
                         tables[j].data(),
                         check(tables[j], levels[j]),
                         levels[j]});
    for (size_t j = 0; j < parameters.size(); ++j) {
        require(parameters[j].shape(0) == 5, "parameters have the wrong shape");
        const int64_t level = levels[n_tables + j];
        numeric.push_back({column_of(numeric_columns[j], rows), parameters[j].data(),
                           check(parameters[j], level), level});
    }
    const ScanRows scanned{codes_of(labels, rows), weights_of(weights, rows), scores.data(), rows,
                           static_cast<int>(classes)};
    nb::gil_scoped_release release;
    scan_steps(coded, numeric, scanned, steps, log_loss ? StepLoss::log_loss : StepLoss::error,
               tolerance, out.data());
}

}  // namespace

void bind_stagewise(nb::module_& m) {
    m.attr("STEP_LANES") = kStepLanes;
    m.def("scan_steps", &scan_binding, nb::arg("coded_columns"), nb::arg("shifts"),
          nb::arg("tables"), nb::arg("numeric_columns"), nb::arg("parameters"), nb::arg("levels"),
          nb::arg("labels"), nb::arg("weights").none(), nb::arg("scores"), nb::arg("log_loss"),
          nb::arg("tolerance"), nb::arg("out"),
          "Fill out (columns, steps) with the weight of wrong rows, or the log-loss, after 1, 2, "
          "... steps in each column: coded columns with tables (codes, classes, levels) first, "
          "then numeric columns with parameters (5, classes, levels).");
}

}  // namespace lessnaive
