// Summaries of streams.
#include <nanobind/stl/pair.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <tuple>
#include <utility>

#include "base/parallel.hpp"
#include "bindings/bindings.hpp"
#include "binning/discretize.hpp"
#include "stream/kept_values.hpp"
#include "stream/quantile_summary.hpp"

namespace lessnaive {
namespace {

using Numbers = std::vector<double>;
using Cells = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
// values, weights (points x classes), errors
using PointsTuple = std::tuple<Numbers, Numbers, Numbers>;
// classes, size, unit, missing, values and labels and weights of the rows, levels
using StateTuple = std::tuple<int64_t, int64_t, double, Numbers, Numbers, std::vector<uint32_t>,
                              Numbers, std::vector<PointsTuple>>;

// Tables of logarithms no longer than this are made for a search, as it is soon over.
constexpr double kLongTable = 1 << 16;
// A summary that is thinned out is no place to look for the very best bins.
constexpr int64_t kFewParts = 128;

StateTuple state_of(const QuantileSummary& summary) {
    const SummaryState& state = summary.state();
    std::vector<PointsTuple> levels;
    for (const SummaryPoints& points : state.levels)
        levels.push_back({points.values, points.weights, points.error});
    return {state.classes,     state.size,        state.unit,         state.missing,
            state.rows.values, state.rows.labels, state.rows.weights, std::move(levels)};
}

bool ascending(const Numbers& values) {
    return std::adjacent_find(values.begin(), values.end(), std::greater_equal<>()) == values.end();
}

QuantileSummary summary_of(StateTuple tuple) {
    SummaryState state;
    std::vector<PointsTuple> levels;
    std::tie(state.classes, state.size, state.unit, state.missing, state.rows.values,
             state.rows.labels, state.rows.weights, levels) = std::move(tuple);
    const size_t classes = static_cast<size_t>(std::max<int64_t>(state.classes, 0));
    const size_t rows = state.rows.values.size();
    require(classes > 0 && state.size > 0 && state.unit > 0 && state.missing.size() == classes,
            "a summary has the wrong shape");
    require(rows < static_cast<size_t>(state.size) && state.rows.labels.size() == rows &&
                state.rows.weights.size() == rows,
            "the rows of a summary have the wrong shape");
    for (uint32_t label : state.rows.labels) require(label < classes, "a label is out of range");
    for (auto& [values, weights, error] : levels) {
        require(values.size() <= static_cast<size_t>(state.size) &&
                    weights.size() == values.size() * classes &&
                    error.size() == (values.empty() ? 0 : classes) && ascending(values),
                "the points of a summary have the wrong shape");
        state.levels.push_back({std::move(values), std::move(weights), std::move(error)});
    }
    return QuantileSummary(std::move(state));
}

void summarize(const std::vector<QuantileSummary*>& summaries, const std::vector<Array>& columns,
               const Array& labels, const std::optional<Weights>& weights) {
    const int64_t rows = static_cast<int64_t>(labels.shape(0));
    require(summaries.size() == columns.size(), "summaries and columns differ in number");
    std::vector<Column> views;
    for (const Array& column : columns) views.push_back(column_of(column, rows));
    const Column label_column = codes_of(labels, rows);
    const double* w = weights_of(weights, rows);
    const int64_t tasks = static_cast<int64_t>(columns.size());
    nb::gil_scoped_release release;
    parallel_for(tasks, rows * tasks,
                 [&](int64_t j) { summaries[j]->add(views[j], label_column, w, rows); });
}

bool all_whole(const Numbers& values) {
    return std::all_of(values.begin(), values.end(), [](double v) { return v == std::floor(v); });
}

// edges, counts, missing bin, cost, null cost, prior cost
using BinsTuple = std::tuple<Numbers, Numbers, int64_t, double, double, double>;

std::vector<BinsTuple> discretize_summaries(const std::vector<QuantileSummary*>& summaries,
                                            bool modl, bool use_missing) {
    std::vector<BinsTuple> out(summaries.size());
    nb::gil_scoped_release release;
    const LogFactorial table(modl ? kLongTable : 0, true);
    const LogFactorial no_table(0, false);
    const Bits bits_table(static_cast<int64_t>(modl ? 0 : kLongTable), true), no_bits(0, false);
    const int64_t tasks = static_cast<int64_t>(summaries.size());
    parallel_for(tasks, kParallelCells, [&](int64_t j) {
        const QuantileSummary& summary = *summaries[j];
        const int classes = static_cast<int>(summary.state().classes);
        const Numbers error = summary.error();
        const bool exact = std::all_of(error.begin(), error.end(), [](double e) { return e == 0; });
        SortedColumn sorted = summary.sorted(exact ? INT64_MAX : summary.state().size);
        const bool whole = all_whole(sorted.weights) && all_whole(sorted.missing);
        const Bins bins =
            modl ? discretize_modl(std::move(sorted), classes, whole ? table : no_table,
                                   use_missing, exact ? kExactParts : kFewParts)
                 : discretize_mdlp(sorted, classes, whole ? bits_table : no_bits);
        out[j] = {bins.edges, bins.counts,    bins.missing_bin,
                  bins.cost,  bins.null_cost, bins.prior_cost};
    });
    return out;
}

std::pair<int64_t, std::vector<int64_t>> keep_binding(const Array& codes, int64_t shift,
                                                      const Array& labels,
                                                      const std::optional<Weights>& weights,
                                                      const std::vector<int64_t>& slot_of,
                                                      int64_t used, Table counts, Cells bound,
                                                      Cells rest, Cells missing) {
    const int64_t rows = static_cast<int64_t>(labels.shape(0));
    KeptValues kept{static_cast<int64_t>(counts.shape(0)),
                    used,
                    static_cast<int64_t>(counts.shape(1)),
                    counts.data(),
                    bound.data(),
                    rest.data(),
                    missing.data()};
    require(kept.slots > 0 && kept.classes > 0 && 0 <= used && used <= kept.slots &&
                bound.shape(0) == counts.shape(0) && rest.shape(0) == counts.shape(1) &&
                missing.shape(0) == counts.shape(1),
            "the tables have the wrong shape");
    for (int64_t slot : slot_of) require(-1 <= slot && slot < used, "a slot is out of range");
    const CodedColumn coded{codes_of(codes, rows), shift, 1 + static_cast<int64_t>(slot_of.size())};
    const Column label_column = codes_of(labels, rows);
    const double* w = weights_of(weights, rows);
    nb::gil_scoped_release release;
    std::vector<int64_t> taken = keep_values(kept, coded, label_column, w, rows, slot_of);
    return {kept.used, std::move(taken)};
}

}  // namespace

void bind_stream(nb::module_& m) {
    nb::class_<QuantileSummary>(m, "QuantileSummary", "Summary of a stream of numbers, by class.")
        .def(nb::init<int64_t, int64_t>(), nb::arg("classes"), nb::arg("size"))
        .def("__getstate__", &state_of)
        .def("__setstate__",
             [](QuantileSummary& self, StateTuple state) {
                 new (&self) QuantileSummary(summary_of(std::move(state)));
             })
        .def(
            "merge",
            [](QuantileSummary& self, const QuantileSummary& other) {
                require(self.state().classes == other.state().classes &&
                            self.state().size == other.state().size,
                        "summaries differ in classes or size");
                self.merge(other);
            },
            nb::arg("other"), "Add what another summary holds.")
        .def("decay", &QuantileSummary::decay, nb::arg("factor"), "Multiply all weights.")
        .def(
            "spread_classes",
            [](QuantileSummary& self, const std::vector<int64_t>& places, int64_t classes) {
                require(static_cast<int64_t>(places.size()) == self.state().classes,
                        "places differ in number from the classes");
                for (int64_t place : places)
                    require(0 <= place && place < classes, "a place is out of range");
                self.spread_classes(places, classes);
            },
            nb::arg("places"), nb::arg("classes"), "Make room for new classes.")
        .def(
            "points",
            [](const QuantileSummary& self) {
                const SummaryPoints all = self.points(INT64_MAX);
                return PointsTuple{all.values, all.weights, all.error};
            },
            "Values, weights (values x classes) and bounds on the error of ranks, by class.")
        .def(
            "count",
            [](const QuantileSummary& self, const Vector& edges, Table out) {
                const int64_t count = static_cast<int64_t>(edges.shape(0));
                require(static_cast<int64_t>(out.shape(0)) == count + 1 &&
                            static_cast<int64_t>(out.shape(1)) == self.state().classes,
                        "out has the wrong shape");
                self.count(edges.data(), count, out.data());
            },
            nb::arg("edges"), nb::arg("out"), "Add the weight in each interval, by class, to out.")
        .def_prop_ro("classes", [](const QuantileSummary& self) { return self.state().classes; })
        .def_prop_ro("size", [](const QuantileSummary& self) { return self.state().size; })
        .def_prop_ro("missing", [](const QuantileSummary& self) { return self.state().missing; })
        .def_prop_ro("error", &QuantileSummary::error, "Bound on the error of ranks, by class.")
        .def("bytes", &QuantileSummary::bytes, "Bytes that it takes.");
    m.def("summarize", &summarize, nb::arg("summaries"), nb::arg("columns"), nb::arg("labels"),
          nb::arg("weights").none(),
          "Add rows to the summaries of numeric columns, which hold finite values and NaN.");
    m.def("discretize_summaries", &discretize_summaries, nb::arg("summaries"), nb::arg("modl"),
          nb::arg("use_missing"), "Supervised bins, as discretize finds them, from summaries.");
    m.def("keep_values", &keep_binding, nb::arg("codes"), nb::arg("shift"), nb::arg("labels"),
          nb::arg("weights").none(), nb::arg("slot_of"), nb::arg("used"), nb::arg("counts"),
          nb::arg("bound"), nb::arg("rest"), nb::arg("missing"),
          "Count values in so many slots, in place; returns the slots used, and the value that has "
          "taken each slot or -1.");
}

}  // namespace lessnaive
