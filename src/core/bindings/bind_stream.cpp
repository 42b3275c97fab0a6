// Summaries of streams.
#include <nanobind/stl/pair.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <tuple>
#include <utility>

#include "base/parallel.hpp"
#include "bindings/bindings.hpp"
#include "bindings/checks.hpp"
#include "bindings/in_use.hpp"
#include "bindings/overlap.hpp"
#include "bindings/released.hpp"
#include "binning/discretize.hpp"
#include "stream/kept_values.hpp"
#include "stream/quantile_summary.hpp"

namespace lessnaive {
namespace {

using List = std::vector<double>;
// values, weights (points x classes), errors
using PointsTuple = std::tuple<List, List, List>;
// classes, size, unit, missing, values and labels and weights of the rows, levels
using StateTuple = std::tuple<int64_t, int64_t, double, List, List, std::vector<uint32_t>, List,
                              std::vector<PointsTuple>>;

// Tables of logarithms no longer than this are made for a search, as it is soon over.
constexpr double kLongTable = 1 << 16;
// A summary that is thinned out is no place to look for the very best bins.
constexpr int64_t kFewParts = 128;

// Points are found by 32-bit places.
constexpr int64_t kLargestSummary = INT32_MAX;
// The smallest unit that weights are kept in: see QuantileSummary::decay.
constexpr double kSmallestUnit = 1e-100;

using How = InUse::How;

void make_summary(QuantileSummary* self, int64_t classes, int64_t size) {
    classes_of(classes);
    require(0 < size && size <= kLargestSummary, "the size of a summary is out of range");
    new (self) QuantileSummary(classes, size);
}

StateTuple state_of(const QuantileSummary& summary) {
    const InUse held(&summary, How::read);
    const SummaryState& state = summary.state();
    std::vector<PointsTuple> levels;
    for (const SummaryPoints& points : state.levels)
        levels.push_back({points.values, points.weights, points.error});
    return {state.classes,     state.size,        state.unit,         state.missing,
            state.rows.values, state.rows.labels, state.rows.weights, std::move(levels)};
}

bool are_finite(const List& values) {
    return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

bool ascending(const List& values) {
    return std::adjacent_find(values.begin(), values.end(), std::greater_equal<>()) == values.end();
}

bool are_weights(const List& values) {
    return lessnaive::are_weights(values.data(), static_cast<int64_t>(values.size()));
}

QuantileSummary summary_of(StateTuple tuple) {
    SummaryState state;
    std::vector<PointsTuple> levels;
    std::tie(state.classes, state.size, state.unit, state.missing, state.rows.values,
             state.rows.labels, state.rows.weights, levels) = std::move(tuple);
    const size_t classes = static_cast<size_t>(classes_of(state.classes));
    const size_t rows = state.rows.values.size();
    require(0 < state.size && state.size <= kLargestSummary && kSmallestUnit <= state.unit &&
                state.unit <= 1 && state.missing.size() == classes && are_weights(state.missing),
            "a summary has the wrong shape");
    require(rows < static_cast<size_t>(state.size) && state.rows.labels.size() == rows &&
                state.rows.weights.size() == rows && are_finite(state.rows.values) &&
                are_weights(state.rows.weights),
            "the rows of a summary have the wrong shape");
    for (uint32_t label : state.rows.labels) require(label < classes, "a label is out of range");
    for (auto& [values, weights, error] : levels) {
        require(values.size() <= static_cast<size_t>(state.size) &&
                    weights.size() == values.size() * classes &&
                    error.size() == (values.empty() ? 0 : classes) && ascending(values) &&
                    are_finite(values) && are_weights(weights) && are_weights(error),
                "the points of a summary have the wrong shape");
        state.levels.push_back({std::move(values), std::move(weights), std::move(error)});
    }
    return QuantileSummary(std::move(state));
}

// The summaries of a list. Each is held as long as the list of those that hold them.
std::vector<QuantileSummary*> summaries_of(const std::vector<nb::object>& objects, How how,
                                           std::vector<InUse>& held) {
    std::vector<QuantileSummary*> out;
    for (const nb::object& object : objects) {
        QuantileSummary* summary = nullptr;
        if (!nb::try_cast(object, summary) || summary == nullptr)
            throw nb::type_error("summaries must be of QuantileSummary");
        out.push_back(summary);
    }
    std::vector<QuantileSummary*> distinct(out);
    std::sort(distinct.begin(), distinct.end());
    require(
        how == How::read || std::adjacent_find(distinct.begin(), distinct.end()) == distinct.end(),
        "a summary is listed twice");
    for (QuantileSummary* summary : out) held.emplace_back(summary, how);
    return out;
}

void summarize(const std::vector<nb::object>& objects, const std::vector<Array>& columns,
               const Array& labels, const std::optional<Weights>& weights) {
    const int64_t rows = length(labels);
    require(objects.size() == columns.size(), "summaries and columns differ in number");
    std::vector<InUse> held;
    const std::vector<QuantileSummary*> summaries = summaries_of(objects, How::change, held);
    Memory().read(weights).require_apart();
    const std::vector<Column> views = columns_of(columns, rows);
    int64_t classes = kMostClasses;
    for (const QuantileSummary* summary : summaries)
        classes = std::min(classes, summary->state().classes);
    const Column label_column = labels_of(labels, rows, classes);
    const double* w = weights_of(weights, rows);
    const int64_t tasks = static_cast<int64_t>(columns.size());
    nb::gil_scoped_release release;
    parallel_for(tasks, rows * tasks,
                 [&](int64_t j) { summaries[j]->add(views[j], label_column, w, rows); });
}

void merge_binding(QuantileSummary& self, const QuantileSummary& other) {
    require(
        self.state().classes == other.state().classes && self.state().size == other.state().size,
        "summaries differ in classes or size");
    // A summary may be merged with itself.
    std::optional<InUse> read;
    if (&other != &self) read.emplace(&other, How::read);
    const InUse held(&self, How::change);
    self.merge(other);
}

void decay_binding(QuantileSummary& self, double factor) {
    require(0 < factor && factor <= 1, "the factor must be above 0 and at most 1");
    const InUse held(&self, How::change);
    self.decay(factor);
}

void spread_binding(QuantileSummary& self, const std::vector<int64_t>& places, int64_t classes) {
    const InUse held(&self, How::change);
    require(static_cast<int64_t>(places.size()) == self.state().classes,
            "places differ in number from the classes");
    std::vector<bool> is_taken(static_cast<size_t>(classes_of(classes)));
    for (int64_t place : places) {
        require(0 <= place && place < classes, "a place is out of range");
        require(!is_taken[place], "two classes have one place");
        is_taken[place] = true;
    }
    self.spread_classes(places, classes);
}

PointsTuple points_binding(const QuantileSummary& self) {
    const InUse held(&self, How::read);
    const SummaryPoints all = self.points(INT64_MAX);
    return {all.values, all.weights, all.error};
}

void count_binding(const QuantileSummary& self, const Vector& edges, Table out) {
    const InUse held(&self, How::read);
    require(has_shape(out, {length(edges) + 1, self.state().classes}), "out has the wrong shape");
    require(are_ascending(edges), "edges must be ascending numbers");
    Memory().fill(out).read(edges).require_apart();
    self.count(edges.data(), length(edges), out.data());
}

bool all_whole(const List& values) {
    return std::all_of(values.begin(), values.end(), [](double v) { return v == std::floor(v); });
}

// edges, counts, missing bin, cost, null cost, prior cost
using BinsTuple = std::tuple<List, List, int64_t, double, double, double>;

std::vector<BinsTuple> discretize_summaries(const std::vector<nb::object>& objects, bool modl,
                                            bool use_missing) {
    std::vector<InUse> held;
    const std::vector<QuantileSummary*> summaries = summaries_of(objects, How::read, held);
    std::vector<BinsTuple> out(summaries.size());
    const Released release;
    const LogFactorial table(modl ? kLongTable : 0, true);
    const LogFactorial no_table(0, false);
    const Bits bits_table(static_cast<int64_t>(modl ? 0 : kLongTable), true), no_bits(0, false);
    const int64_t tasks = static_cast<int64_t>(summaries.size());
    parallel_for(tasks, kParallelCells, [&](int64_t j) {
        const QuantileSummary& summary = *summaries[j];
        const int classes = static_cast<int>(summary.state().classes);
        const List error = summary.error();
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
                                                      int64_t used, Table counts, Numbers bound,
                                                      Numbers rest, Numbers missing) {
    const int64_t rows = length(labels), slots = length(counts);
    const int classes = classes_of(length(counts, 1));
    KeptValues kept{slots, used, classes, counts.data(), bound.data(), rest.data(), missing.data()};
    require(0 < slots && 0 <= used && used <= slots && length(bound) == slots &&
                length(rest) == classes && length(missing) == classes,
            "the tables have the wrong shape");
    require(lessnaive::are_weights(bound.data(), slots), "bounds must be finite and not negative");
    std::vector<bool> is_taken(static_cast<size_t>(used));
    for (int64_t slot : slot_of) {
        require(-1 <= slot && slot < used, "a slot is out of range");
        if (slot < 0) continue;
        require(!is_taken[slot], "two values have one slot");
        is_taken[slot] = true;
    }
    Memory memory;
    memory.fill(counts).fill(bound).fill(rest).fill(missing);
    memory.read(codes).read(labels).read(weights).require_apart();
    const CodedColumn coded =
        codes_of(codes, rows, shift, 1 + static_cast<int64_t>(slot_of.size()));
    const Column label_column = labels_of(labels, rows, classes);
    const double* w = weights_of(weights, rows);
    nb::gil_scoped_release release;
    std::vector<int64_t> taken = keep_values(kept, coded, label_column, w, rows, slot_of);
    return {kept.used, std::move(taken)};
}

}  // namespace

void bind_stream(nb::module_& m) {
    nb::class_<QuantileSummary>(m, "QuantileSummary", "Summary of a stream of numbers, by class.")
        .def("__init__", &make_summary, nb::arg("classes"), nb::arg("size"))
        .def("__getstate__", &state_of)
        .def("__setstate__",
             [](QuantileSummary& self, StateTuple state) {
                 new (&self) QuantileSummary(summary_of(std::move(state)));
             })
        .def("merge", &merge_binding, nb::arg("other"), "Add what another summary holds.")
        .def("decay", &decay_binding, nb::arg("factor"), "Multiply all weights.")
        .def("spread_classes", &spread_binding, nb::arg("places"), nb::arg("classes"),
             "Make room for new classes.")
        .def("points", &points_binding,
             "Values, weights (values x classes) and bounds on the error of ranks, by class.")
        .def("count", &count_binding, array_arg("edges"), array_arg("out"),
             "Add the weight in each interval, by class, to out.")
        .def_prop_ro("classes", [](const QuantileSummary& self) { return self.state().classes; })
        .def_prop_ro("size", [](const QuantileSummary& self) { return self.state().size; })
        .def_prop_ro("missing",
                     [](const QuantileSummary& self) {
                         const InUse held(&self, How::read);
                         return self.state().missing;
                     })
        .def_prop_ro(
            "error",
            [](const QuantileSummary& self) {
                const InUse held(&self, How::read);
                return self.error();
            },
            "Bound on the error of ranks, by class.")
        .def(
            "bytes",
            [](const QuantileSummary& self) {
                const InUse held(&self, How::read);
                return self.bytes();
            },
            "Bytes that it takes.");
    m.def("summarize", &summarize, nb::arg("summaries"), array_arg("columns"), array_arg("labels"),
          array_or_none("weights"),
          "Add rows to the summaries of numeric columns, which hold finite values and NaN.");
    m.def("discretize_summaries", &discretize_summaries, nb::arg("summaries"), nb::arg("modl"),
          nb::arg("use_missing"), "Supervised bins, as discretize finds them, from summaries.");
    m.def("keep_values", &keep_binding, array_arg("codes"), nb::arg("shift"), array_arg("labels"),
          array_or_none("weights"), nb::arg("slot_of"), nb::arg("used"), array_arg("counts"),
          array_arg("bound"), array_arg("rest"), array_arg("missing"),
          "Count values in so many slots, in place; returns the slots used, and the value that has "
          "taken each slot or -1.");
}

}  // namespace lessnaive
