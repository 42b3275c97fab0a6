// Supervised bins and groups, and codes of numbers.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/parallel.hpp"
#include "bindings/bindings.hpp"
#include "bindings/checks.hpp"
#include "bindings/overlap.hpp"
#include "bindings/released.hpp"
#include "binning/discretize.hpp"
#include "binning/grouping.hpp"

namespace lessnaive {
namespace {

bool all_whole(const double* values, size_t size) {
    return std::all_of(values, values + size, [](double v) { return v == std::floor(v); });
}

// Time and memory grow with the square of this many parts.
constexpr int64_t kMostExactParts = 1 << 12;

// edges, counts, missing bin, cost, null cost, prior cost
using BinsTuple =
    std::tuple<std::vector<double>, std::vector<double>, int64_t, double, double, double>;

std::vector<BinsTuple> discretize_binding(const std::vector<Array>& columns, const Array& labels,
                                          const std::optional<Weights>& weights, int classes,
                                          bool modl, bool use_missing, int64_t exact_parts) {
    const int64_t rows = length(labels);
    require(rows < (int64_t{1} << 32), "too many rows");
    classes_of(classes);
    require(0 < exact_parts && exact_parts <= kMostExactParts, "exact_parts is out of range");
    Memory().read(weights).require_apart();
    const std::vector<Column> views = columns_of(columns, rows);
    const Column label_column = labels_of(labels, rows, classes);
    const double* w = weights_of(weights, rows);
    std::vector<BinsTuple> out(columns.size());
    const Released release;
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
    Memory().read(tables).require_apart();
    int64_t cells = 0;
    for (const Matrix& table : tables) {
        require(length(table) <= INT32_MAX, "a table has the wrong shape");
        classes_of(length(table, 1));
        const int64_t size = static_cast<int64_t>(table.size());
        require(are_weights(table.data(), size) &&
                    std::isfinite(std::accumulate(table.data(), table.data() + size, 0.0)),
                "counts must be finite and not negative");
        const int64_t classes = length(table, 1);
        for (int64_t v = 0; v < length(table); ++v) {
            const double* row = table.data() + v * classes;
            require(std::any_of(row, row + classes, [](double count) { return count > 0; }),
                    "a value has no counts");
        }
        cells += size;
    }
    const Released release;
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
    const int64_t rows = length(out);
    Memory().fill(out).read(column).read(edges).require_apart();
    require(are_ascending(edges), "edges must be ascending numbers");
    require(length(edges) < kMostTableRows, "there are too many edges");
    const Column view = column_of(column, rows);
    const double* first_edge = edges.data();
    const int64_t count = length(edges);
    uint32_t* codes = out.data();
    const Released release;
    digitize(view, first_edge, count, rows, codes);
}

}  // namespace

void bind_encoding(nb::module_& m) {
    m.def("discretize", &discretize_binding, array_arg("columns"), array_arg("labels"),
          array_or_none("weights"), nb::arg("classes"), nb::arg("modl"), nb::arg("use_missing"),
          nb::arg("exact_parts") = kExactParts,
          "Supervised bins of numeric columns, by MODL or by MDLP: for each column its edges, "
          "counts (bins x classes), bin of the missing values or -1, cost, null cost, prior cost.");
    m.def(
        "group", &group_binding, array_arg("tables"),
        "Supervised groups of values, by MODL, from counts (values x classes): for each table the "
        "group of each value, counts (groups x classes), cost, null cost, prior cost.");
    m.def("digitize", &digitize_binding, array_arg("column"), array_arg("edges"), array_arg("out"),
          "Codes of numbers: 0 where missing, else 1 + the number of edges below.");
}

}  // namespace lessnaive
