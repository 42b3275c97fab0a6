#include "stream/quantile_summary.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace lessnaive {
namespace {

constexpr int kBlock = 1024;
// Units smaller than this are multiplied into the weights, long before they vanish.
constexpr double kSmallestUnit = 1e-100;
// A class of no more weight than this has been forgotten.
constexpr double kForgotten = 1e-200;

void add_into(std::vector<double>& into, const std::vector<double>& from) {
    for (size_t c = 0; c < into.size(); ++c) into[c] += from[c];
}

// The points of both, with one point for a value that is in both.
SummaryPoints merged(const SummaryPoints& a, const SummaryPoints& b, int64_t classes) {
    SummaryPoints out;
    out.values.resize(a.values.size() + b.values.size());
    out.weights.resize(a.weights.size() + b.weights.size());
    const std::vector<double> none(classes, 0.0);
    int64_t i = 0, k = 0, place = 0;
    for (; i < a.count() || k < b.count(); ++place) {
        const bool from_a = k == b.count() || (i < a.count() && a.values[i] <= b.values[k]);
        const bool from_b = i == a.count() || (k < b.count() && b.values[k] <= a.values[i]);
        out.values[place] = from_a ? a.values[i] : b.values[k];
        double* weights = out.weights.data() + place * classes;
        const double* first = from_a ? a.weights.data() + i * classes : none.data();
        const double* second = from_b ? b.weights.data() + k * classes : none.data();
        for (int64_t c = 0; c < classes; ++c) weights[c] = first[c] + second[c];
        i += from_a;
        k += from_b;
    }
    out.values.resize(place);
    out.weights.resize(place * classes);
    out.error = a.error;
    add_into(out.error, b.error);
    return out;
}

// Points in which all classes together weigh the same.
std::vector<double> balanced_measure(const SummaryPoints& points, int64_t classes) {
    std::vector<double> share(classes, 0.0);
    for (int64_t i = 0; i < points.count(); ++i)
        for (int64_t c = 0; c < classes; ++c) share[c] += points.weights[i * classes + c];
    for (double& weight : share) weight = weight > kForgotten ? 1 / weight : 0;
    std::vector<double> measure(points.count(), 0.0);
    for (int64_t i = 0; i < points.count(); ++i)
        for (int64_t c = 0; c < classes; ++c)
            measure[i] += share[c] * points.weights[i * classes + c];
    return measure;
}

// Neighbouring points first .. end that become one, at the value of `middle`.
struct Run {
    int64_t first, middle, end;
};

// As few runs as there can be with a measure of no more than `side` on either side of the middle.
std::vector<Run> runs_of(const std::vector<double>& measure, double side) {
    const int64_t size = static_cast<int64_t>(measure.size());
    std::vector<Run> runs;
    for (int64_t first = 0; first < size;) {
        int64_t middle = first, end;
        for (double before = measure[first]; before <= side && middle + 1 < size;)
            before += measure[++middle];
        double after = 0;
        for (end = middle + 1; end < size && after + measure[end] <= side; ++end)
            after += measure[end];
        runs.push_back({first, middle, end});
        first = end;
    }
    return runs;
}

// Thins points out to no more than `most`.
//
// With `side` = M / most, M being the whole measure, there are no more than `most` runs: if a run
// is not the last, then the points up to its middle weigh more than `side`, and so do the others
// with the first point of the next run, or they would have been in it too. So all k - 1 runs but
// the last, each with the point that follows, weigh more than 2 (k - 1) side; and no more than 2 M,
// as no point is counted more than twice. Where no point is heavy half of that `side` will do, and
// is tried first.
SummaryPoints thinned(SummaryPoints points, int64_t classes, int64_t most) {
    if (points.count() <= most) return points;
    std::vector<double> measure = balanced_measure(points, classes);
    double whole = std::accumulate(measure.begin(), measure.end(), 0.0);
    if (!std::isfinite(whole)) {  // weights that are too large to be added up: all count the same
        measure.assign(measure.size(), 1.0);
        whole = static_cast<double>(measure.size());
    }
    std::vector<Run> runs;
    for (double side = whole / (2.0 * most);; side *= std::sqrt(std::sqrt(2.0))) {
        runs = runs_of(measure, side);
        if (static_cast<int64_t>(runs.size()) <= most) break;
    }
    SummaryPoints out;
    out.values.resize(runs.size());
    out.weights.resize(runs.size() * classes);
    std::vector<double> moved(classes, 0.0);
    for (size_t r = 0; r < runs.size(); ++r) {
        const Run& run = runs[r];
        out.values[r] = points.values[run.middle];
        for (int64_t c = 0; c < classes; ++c) {
            double before = 0, after = 0;
            for (int64_t i = run.first; i < run.middle; ++i)
                before += points.weights[i * classes + c];
            for (int64_t i = run.middle + 1; i < run.end; ++i)
                after += points.weights[i * classes + c];
            out.weights[r * classes + c] =
                before + points.weights[run.middle * classes + c] + after;
            moved[c] = std::max({moved[c], before, after});
        }
    }
    out.error = std::move(points.error);
    add_into(out.error, moved);
    return out;
}

// In exactly as much memory as is needed.
SummaryPoints compact(const SummaryPoints& points) {
    const auto copy = [](const std::vector<double>& from) {
        return std::vector<double>(from.begin(), from.end());
    };
    return {copy(points.values), copy(points.weights), copy(points.error)};
}

template <class T>
int64_t bytes_of(const std::vector<T>& values) {
    return static_cast<int64_t>(values.capacity() * sizeof(T));
}

}  // namespace

QuantileSummary::QuantileSummary(int64_t classes, int64_t size) {
    state_.classes = classes;
    state_.size = size;
    state_.missing.assign(classes, 0.0);
}

void QuantileSummary::add(const Column& column, const Column& labels, const double* weights,
                          int64_t rows) {
    const CodedColumn label_codes{labels, 0, state_.classes};
    double x[kBlock];
    uint32_t label[kBlock];
    for (int64_t first = 0; first < rows; first += kBlock) {
        const int count = static_cast<int>(std::min<int64_t>(kBlock, rows - first));
        load_numbers(column, first, count, x);
        load_codes(label_codes, first, count, label);
        for (int k = 0; k < count; ++k) {
            const double weight = weights == nullptr ? 1.0 : weights[first + k];
            if (weight == 0) continue;
            if (x[k] != x[k])
                state_.missing[label[k]] += weight;
            else
                add_row(x[k], label[k], weight / state_.unit);
        }
    }
}

void QuantileSummary::add_row(double value, uint32_t label, double weight) {
    SummaryRows& rows = state_.rows;
    if (rows.values.size() == rows.values.capacity()) {  // short streams take little
        const size_t more = std::max<size_t>(2 * rows.values.size(), 16);
        const size_t room = std::min<size_t>(more, static_cast<size_t>(state_.size));
        rows.values.reserve(room);
        rows.labels.reserve(room);
        rows.weights.reserve(room);
    }
    rows.values.push_back(value);
    rows.labels.push_back(label);
    rows.weights.push_back(weight);
    if (rows.count() < state_.size) return;
    SummaryPoints points = points_of_rows();
    rows.values.clear();
    rows.labels.clear();
    rows.weights.clear();
    put(std::move(points), 0);
}

SummaryPoints QuantileSummary::points_of_rows() const {
    const SummaryRows& rows = state_.rows;
    const int64_t classes = state_.classes;
    std::vector<double> values = rows.values;
    std::vector<uint32_t> order(values.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<uint32_t>(i);
    sort_values(values, order);
    SummaryPoints out;
    out.error.assign(classes, 0.0);
    out.values.reserve(values.size());
    out.weights.reserve(values.size() * classes);
    for (size_t i = 0; i < values.size(); ++i) {
        if (out.values.empty() || out.values.back() != values[i]) {
            out.values.push_back(values[i]);
            out.weights.resize(out.weights.size() + classes, 0.0);
        }
        out.weights[out.weights.size() - classes + rows.labels[order[i]]] += rows.weights[order[i]];
    }
    return out;
}

void QuantileSummary::put(SummaryPoints points, size_t level) {
    std::vector<SummaryPoints>& levels = state_.levels;
    for (; level < levels.size() && levels[level].count() > 0; ++level) {
        points = merged(levels[level], points, state_.classes);
        points = thinned(std::move(points), state_.classes, state_.size);
        levels[level] = SummaryPoints();
    }
    if (levels.size() <= level) levels.resize(level + 1);
    levels[level] = compact(points);
}

void QuantileSummary::merge(const QuantileSummary& other) {
    const SummaryState from = other.state_;  // a copy: a summary may be merged with itself
    const double ratio = from.unit / state_.unit;
    const auto in_my_units = [&](std::vector<double> weights) {
        for (double& weight : weights) weight *= ratio;
        return weights;
    };
    add_into(state_.missing, from.missing);
    for (size_t level = 0; level < from.levels.size(); ++level) {
        const SummaryPoints& points = from.levels[level];
        if (points.count() == 0) continue;
        put({points.values, in_my_units(points.weights), in_my_units(points.error)}, level);
    }
    for (int64_t i = 0; i < from.rows.count(); ++i)
        add_row(from.rows.values[i], from.rows.labels[i], from.rows.weights[i] * ratio);
}

void QuantileSummary::decay(double factor) {
    for (double& weight : state_.missing) weight *= factor;
    state_.unit *= factor;
    if (state_.unit >= kSmallestUnit) return;
    const auto multiply = [&](std::vector<double>& weights) {
        for (double& weight : weights) weight *= state_.unit;
    };
    multiply(state_.rows.weights);
    for (SummaryPoints& points : state_.levels) {
        multiply(points.weights);
        multiply(points.error);
    }
    state_.unit = 1;
}

void QuantileSummary::spread_classes(const std::vector<int64_t>& places, int64_t classes) {
    const int64_t before = state_.classes;
    const auto spread = [&](std::vector<double>& table) {
        const int64_t rows = static_cast<int64_t>(table.size()) / before;
        std::vector<double> out(rows * classes, 0.0);
        for (int64_t i = 0; i < rows; ++i)
            for (int64_t c = 0; c < before; ++c)
                out[i * classes + places[c]] = table[i * before + c];
        table.swap(out);
    };
    spread(state_.missing);
    for (uint32_t& label : state_.rows.labels) label = static_cast<uint32_t>(places[label]);
    for (SummaryPoints& points : state_.levels) {
        spread(points.weights);
        spread(points.error);
    }
    state_.classes = classes;
}

SummaryPoints QuantileSummary::points(int64_t most) const {
    SummaryPoints out = points_of_rows();
    for (const SummaryPoints& level : state_.levels)
        if (level.count() > 0) out = merged(out, level, state_.classes);
    for (double& weight : out.weights) weight *= state_.unit;
    for (double& weight : out.error) weight *= state_.unit;
    return thinned(std::move(out), state_.classes, most);
}

SortedColumn QuantileSummary::sorted(int64_t most) const {
    const SummaryPoints all = points(most);
    SortedColumn out;
    out.missing = state_.missing;
    bool plain = std::all_of(out.missing.begin(), out.missing.end(),
                             [](double weight) { return weight == std::floor(weight); });
    for (int64_t i = 0; i < all.count(); ++i)
        for (int64_t c = 0; c < state_.classes; ++c) {
            const double weight = all.weights[i * state_.classes + c];
            if (weight == 0) continue;
            out.values.push_back(all.values[i]);
            out.labels.push_back(static_cast<uint32_t>(c));
            out.weights.push_back(weight);
            plain = plain && weight == 1;
        }
    if (plain) out.weights.clear();
    return out;
}

void QuantileSummary::count(const double* edges, int64_t edge_count, double* out) const {
    const int64_t classes = state_.classes;
    for (const SummaryPoints& points : state_.levels) {
        int64_t bin = 0;
        for (int64_t i = 0; i < points.count(); ++i) {
            while (bin < edge_count && edges[bin] < points.values[i]) ++bin;
            for (int64_t c = 0; c < classes; ++c)
                out[bin * classes + c] += points.weights[i * classes + c] * state_.unit;
        }
    }
    const SummaryRows& rows = state_.rows;
    for (int64_t i = 0; i < rows.count(); ++i) {
        const int64_t bin = std::lower_bound(edges, edges + edge_count, rows.values[i]) - edges;
        out[bin * classes + rows.labels[i]] += rows.weights[i] * state_.unit;
    }
}

std::vector<double> QuantileSummary::error() const {
    std::vector<double> out(state_.classes, 0.0);
    for (const SummaryPoints& points : state_.levels)
        if (points.count() > 0) add_into(out, points.error);
    for (double& error : out) error *= state_.unit;
    return out;
}

int64_t QuantileSummary::bytes() const {
    int64_t sum = sizeof(*this) + bytes_of(state_.missing) + bytes_of(state_.levels) +
                  bytes_of(state_.rows.values) + bytes_of(state_.rows.labels) +
                  bytes_of(state_.rows.weights);
    for (const SummaryPoints& points : state_.levels)
        sum += bytes_of(points.values) + bytes_of(points.weights) + bytes_of(points.error);
    return sum;
}

}  // namespace lessnaive
