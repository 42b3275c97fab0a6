// Learned weights: packed evidence, its loss and curvature, and the inner problem of the solver.
#include <algorithm>

#include "bindings/bindings.hpp"
#include "bindings/checks.hpp"
#include "bindings/curves.hpp"
#include "bindings/overlap.hpp"
#include "bindings/paths.hpp"
#include "bindings/released.hpp"
#include "weights/curvature.hpp"
#include "weights/evidence.hpp"
#include "weights/evidence_curvature.hpp"
#include "weights/evidence_path.hpp"
#include "weights/grams.hpp"
#include "weights/quadratic_program.hpp"
#include "weights/weighted_loss.hpp"

namespace lessnaive {
namespace {

LossKind loss_of(bool squared) { return squared ? LossKind::squared : LossKind::log; }

template <class Input>
void require_weights(const Evidence& evidence, const Input& weights) {
    require(has_shape(weights, {evidence.classes(), evidence.columns()}),
            "the weights have the wrong shape");
}

void make_evidence(
    Evidence* self, const std::vector<Array>& codes, const std::vector<int64_t>& shifts,
    const std::vector<Matrix>& tables, const std::vector<std::optional<Matrix>>& own_tables,
    const std::vector<int64_t>& coded_places, const std::vector<Array>& values,
    const std::vector<Matrix>& parameters, const std::vector<std::optional<Vector>>& own_values,
    const std::vector<int64_t>& value_places, const Vector& intercept,
    const std::optional<Vector>& own_intercept, const Array& labels,
    const std::optional<Weights>& weights, const std::vector<std::optional<Vector>>& sharpness,
    const std::vector<PiecewiseTuple>& curves, const std::vector<std::optional<Vector>>& own_curves,
    const std::vector<int64_t>& curve_places,
    const std::vector<std::optional<Vector>>& sharp_shares, bool merged) {
    const int64_t rows = length(labels);
    const int classes = classes_of(length(intercept));
    require(codes.size() == shifts.size() && codes.size() == tables.size() &&
                codes.size() == own_tables.size() && codes.size() == coded_places.size() &&
                values.size() == parameters.size() && values.size() == own_values.size() &&
                values.size() == value_places.size() &&
                (sharpness.empty() || sharpness.size() == values.size()) &&
                (sharp_shares.empty() || sharp_shares.size() == values.size()) &&
                curves.size() == own_curves.size() && curves.size() == curve_places.size(),
            "columns and terms differ in number");
    std::vector<int64_t> places(coded_places);
    places.insert(places.end(), value_places.begin(), value_places.end());
    places.insert(places.end(), curve_places.begin(), curve_places.end());
    std::sort(places.begin(), places.end());
    for (size_t i = 0; i < places.size(); ++i)
        require(places[i] == static_cast<int64_t>(i), "places must be those of the columns");
    std::vector<EvidenceLookup> lookups;
    for (size_t j = 0; j < codes.size(); ++j) {
        const int64_t table_rows = length(tables[j]);
        require(length(tables[j], 1) == classes, "a table has the wrong shape");
        require(!own_tables[j] || has_shape(*own_tables[j], {table_rows, classes}),
                "a table has the wrong shape");
        const CodedColumn coded = codes_of(codes[j], rows, shifts[j], table_rows);
        lookups.push_back({{coded, tables[j].data()},
                           own_tables[j] ? own_tables[j]->data() : nullptr,
                           coded_places[j]});
    }
    std::vector<EvidenceCurve> curved;
    for (size_t j = 0; j < values.size(); ++j) {
        require(has_shape(parameters[j], {5, classes}), "parameters have the wrong shape");
        require(!own_values[j] || length(*own_values[j]) == rows, "columns differ in length");
        const std::optional<Vector> ratio = sharpness.empty() ? std::nullopt : sharpness[j];
        require(!ratio || length(*ratio) == rows, "columns differ in length");
        const std::optional<Vector> share = sharp_shares.empty() ? std::nullopt : sharp_shares[j];
        require(!share || length(*share) == classes, "there must be one share per class");
        curved.push_back({Quadratic{column_of(values[j], rows), parameters[j].data()},
                          own_values[j] ? own_values[j]->data() : nullptr,
                          ratio ? ratio->data() : nullptr, share ? share->data() : nullptr,
                          value_places[j]});
    }
    Memory used;
    for (size_t j = 0; j < curves.size(); ++j) {
        require(!own_curves[j] || length(*own_curves[j]) == rows, "columns differ in length");
        curved.push_back({piecewise_of(curves[j], rows, classes, used),
                          own_curves[j] ? own_curves[j]->data() : nullptr, nullptr, nullptr,
                          curve_places[j]});
    }
    require(!own_intercept || length(*own_intercept) == classes,
            "the intercept has the wrong length");
    used.read(own_curves)
        .read(tables)
        .read(own_tables)
        .read(parameters)
        .read(own_values)
        .read(sharpness)
        .read(sharp_shares);
    used.read(intercept).read(own_intercept).read(weights).require_apart();
    const Column label_column = labels_of(labels, rows, classes);
    const double* w = weights_of(weights, rows);
    const Released release;
    new (self)
        Evidence(lookups, curved, intercept.data(), own_intercept ? own_intercept->data() : nullptr,
                 label_column, w, rows, classes, merged);
}

Evidence take_binding(const Evidence& evidence, const Integers& rows) {
    Memory().read(rows).require_apart();
    std::vector<uint32_t> chosen(rows.shape(0));
    for (size_t i = 0; i < chosen.size(); ++i) {
        const int64_t row = rows.data()[i];
        require(row >= 0 && row < evidence.rows() && (i == 0 || row >= rows.data()[i - 1]),
                "rows must be increasing places of packed rows");
        chosen[i] = static_cast<uint32_t>(row);
    }
    const Released release;
    return evidence.take(chosen);
}

double loss_binding(const Evidence& evidence, const Matrix& weights, bool squared,
                    std::optional<Table> gradient) {
    require_weights(evidence, weights);
    if (gradient) require_weights(evidence, *gradient);
    Memory().fill(gradient).read(weights).require_apart();
    const Released release;
    return weighted_loss(evidence, weights.data(), loss_of(squared),
                         gradient ? gradient->data() : nullptr);
}

std::tuple<double, double> mixed_loss_binding(const Evidence& evidence, const Matrix& first,
                                              const Matrix& second, double share, bool squared,
                                              Table by_first, Table by_second) {
    for (const Matrix* weights : {&first, &second}) require_weights(evidence, *weights);
    for (const Table* gradient : {&by_first, &by_second}) require_weights(evidence, *gradient);
    require(0 <= share && share <= 1, "the share must be from 0 to 1");
    Memory().fill(by_first).fill(by_second).read(first).read(second).require_apart();
    const Released release;
    const MixedLoss found = mixed_loss(evidence, first.data(), second.data(), share,
                                       loss_of(squared), by_first.data(), by_second.data());
    return {found.value, found.by_share};
}

void probabilities_binding(const Evidence& evidence, const Matrix& weights, Table out) {
    require_weights(evidence, weights);
    require(has_shape(out, {evidence.rows(), evidence.classes()}), "out has the wrong shape");
    Memory().fill(out).read(weights).require_apart();
    const Released release;
    probabilities(evidence, weights.data(), out.data());
}

void unpack_binding(const Evidence& evidence, Cube out) {
    require(has_shape(out, {evidence.rows(), evidence.classes(), evidence.columns()}),
            "out has the wrong shape");
    Memory().fill(out).require_apart();
    const Released release;
    evidence.unpack(out.data());
}

std::vector<int> labels_binding(const Evidence& evidence) {
    std::vector<int> out;
    for (const Block& block : evidence.blocks()) out.insert(out.end(), block.count, block.label);
    return out;
}

// The places of chosen weights.
std::vector<int64_t> chosen_of(const Evidence& evidence, bool tied, const Integers& chosen) {
    const int64_t most = int64_t{evidence.columns()} * (tied ? 1 : evidence.classes());
    const std::vector<int64_t> places(chosen.data(), chosen.data() + chosen.shape(0));
    for (size_t i = 0; i < places.size(); ++i)
        require(places[i] >= 0 && places[i] < most && (i == 0 || places[i] > places[i - 1]),
                "chosen must be increasing places of weights");
    return places;
}

void curvature_binding(const Evidence& evidence, const Matrix& weights, bool squared, bool tied,
                       const Integers& chosen, int64_t rows, uint64_t seed, Table out,
                       double negligible) {
    require_weights(evidence, weights);
    require(has_shape(out, {length(chosen), length(chosen)}), "out has the wrong shape");
    Memory().fill(out).read(weights).read(chosen).require_apart();
    const std::vector<int64_t> places = chosen_of(evidence, tied, chosen);
    require(rows > 0, "no rows to look at");
    require(negligible >= 0 && negligible < 1, "negligible must be between 0 and 1");
    const Released release;
    curvature(evidence, weights.data(), loss_of(squared), tied, places, {rows, seed, negligible},
              out.data());
}

double curvature_of_part_binding(const Evidence& part, int64_t whole, const Integers& starts,
                                 const Matrix& weights, bool squared, bool tied,
                                 const Integers& chosen, int64_t rows, uint64_t seed, Table out) {
    require_weights(part, weights);
    require(has_shape(out, {length(chosen), length(chosen)}), "out has the wrong shape");
    require(length(starts) == part.classes(), "each class starts somewhere");
    Memory().fill(out).read(weights).read(chosen).read(starts).require_apart();
    const std::vector<int64_t> places = chosen_of(part, tied, chosen);
    require(rows > 0, "no rows to look at");
    const PlaceInWhole place{whole, {starts.data(), starts.data() + starts.shape(0)}};
    for (int64_t start : place.starts)
        require(0 <= start && start <= whole, "the part is not within the whole");
    std::vector<int64_t> ends = place.starts;
    for (const Block& block : part.blocks()) ends[block.label] += block.count;
    for (size_t c = 0; c < ends.size(); ++c)
        require(ends[c] <= whole, "the part is not within the whole");
    const Released release;
    return curvature_of_part(part, place, weights.data(), loss_of(squared), tied, places,
                             {rows, seed}, out.data());
}

double grams_binding(const Evidence& evidence, Cube out) {
    const int64_t useful = static_cast<int64_t>(evidence.places().size());
    require(has_shape(out, {evidence.classes(), useful, useful}), "out has the wrong shape");
    Memory().fill(out).require_apart();
    const Released release;
    return gram_matrices(evidence, out.data());
}

void gram_products_binding(const Evidence& evidence, const Matrix& vector, Table out) {
    require_weights(evidence, vector);
    require_weights(evidence, out);
    Memory().fill(out).read(vector).require_apart();
    const Released release;
    gram_products(evidence, vector.data(), out.data());
}

double squared_norms_binding(const Evidence& evidence, bool summed) {
    const Released release;
    return squared_norms(evidence, summed);
}

void make_evidence_curvature(EvidenceCurvature* self, const Evidence& evidence,
                             const Matrix& weights) {
    require_weights(evidence, weights);
    Memory().read(weights).require_apart();
    const Released release;
    new (self) EvidenceCurvature(evidence, weights.data());
}

void multiply_binding(const EvidenceCurvature& curvature, const Matrix& vector, Table out) {
    require_weights(curvature.evidence(), vector);
    require_weights(curvature.evidence(), out);
    Memory().fill(out).read(vector).require_apart();
    const Released release;
    curvature.multiply(vector.data(), out.data());
}

void blocks_binding(const EvidenceCurvature& curvature, Cube out, bool tied) {
    const int64_t width = length(out, 1), classes = tied ? 1 : curvature.evidence().classes();
    const int64_t useful = static_cast<int64_t>(curvature.evidence().places().size());
    require(width > 0 && has_shape(out, {(useful + width - 1) / width * classes, width, width}),
            "out has the wrong shape");
    Memory().fill(out).require_apart();
    const Released release;
    curvature.blocks(tied, width, out.data());
}

std::tuple<double, double> margins_binding(const Evidence& evidence, const Matrix& direction) {
    require_weights(evidence, direction);
    Memory().read(direction).require_apart();
    const Released release;
    const Margins found = margins(evidence, direction.data());
    return {found.smallest, found.largest};
}

std::tuple<int, double> solve_binding(const Matrix& hessian, const Vector& gradient,
                                      const Vector& target, const Vector& lower,
                                      const Vector& upper, double l1, double l2, double tolerance,
                                      int most_rounds, Numbers x,
                                      const std::optional<Vector>& factor) {
    const int64_t size = length(x);
    require(!factor || length(*factor) == size, "arrays differ in length");
    require(has_shape(hessian, {size, size}), "arrays differ in length");
    for (const Vector* each : {&gradient, &target, &lower, &upper})
        require(length(*each) == size, "arrays differ in length");
    require(are_bounds(lower, upper), "the lower bounds must not be above the upper ones");
    require(l1 >= 0 && l2 >= 0, "penalties must not be negative");
    require(!factor || are_weights(factor->data(), size),
            "factors must be finite and not negative");
    require_stopping(tolerance, most_rounds);
    Memory used;
    used.fill(x).read(hessian).read(gradient).read(target).read(lower).read(upper).read(factor);
    used.require_apart();
    const Released release;
    const std::vector<double> start(x.data(), x.data() + size), ones(size, 1.0);
    const QuadraticProgram program{size,
                                   hessian.data(),
                                   gradient.data(),
                                   start.data(),
                                   target.data(),
                                   lower.data(),
                                   upper.data(),
                                   factor ? factor->data() : ones.data(),
                                   l1,
                                   l2};
    const QuadraticSolution found = solve(program, tolerance, 0.0, most_rounds);
    std::copy(found.x.begin(), found.x.end(), x.data());
    return {found.rounds, found.residual};
}

void make_evidence_path(EvidencePath* self, const Evidence& evidence, double target,
                        int64_t enough) {
    require(std::isfinite(target), "the target must be finite");
    require(enough > 0, "there must be a row to look at");
    const Released release;
    new (self) EvidencePath(evidence, target, enough);
}

}  // namespace

void bind_weights(nb::module_& m) {
    nb::class_<Evidence>(m, "Evidence", "The evidence of a training table, packed for many passes.")
        .def("__init__", &make_evidence, array_arg("codes"), nb::arg("shifts"), array_arg("tables"),
             array_arg("own_tables"), nb::arg("coded_places"), array_arg("values"),
             array_arg("parameters"), array_arg("own_values"), nb::arg("value_places"),
             array_arg("intercept"), array_or_none("own_intercept"), array_arg("labels"),
             array_or_none("weights"),
             array_arg("sharpness") = std::vector<std::optional<Vector>>(),
             array_arg("curves") = std::vector<PiecewiseTuple>(),
             array_arg("own_curves") = std::vector<std::optional<Vector>>(),
             nb::arg("curve_places") = std::vector<int64_t>(),
             array_arg("sharp_shares") = std::vector<std::optional<Vector>>(),
             nb::arg("merged") = false)
        .def("take", &take_binding, array_arg("rows"),
             "Some of the packed rows, given by their places in increasing order.")
        .def("unpack", &unpack_binding, array_arg("out"),
             "Fill out (rows x classes x columns) with the evidence of the packed rows.")
        .def("labels", &labels_binding, "Places of the classes of the packed rows.")
        .def_prop_ro("rows", &Evidence::rows)
        .def_prop_ro("classes", &Evidence::classes)
        .def_prop_ro("columns", &Evidence::columns)
        .def_prop_ro("useful", &Evidence::places, "The columns that say something about some row.")
        .def_prop_ro("nbytes", &Evidence::bytes)
        .def_prop_ro("total_weight", &Evidence::total_weight)
        .def("loss", &loss_binding, array_arg("weights"), nb::arg("squared"),
             array_or_none("gradient"),
             "Sum of the log loss (or the squared loss) at weights (classes x columns); fills its "
             "gradient unless None.")
        .def("mixed_loss", &mixed_loss_binding, array_arg("first"), array_arg("second"),
             nb::arg("share"), nb::arg("squared"), array_arg("by_first"), array_arg("by_second"),
             "Loss of the probabilities (1 - share) p(first) + share p(second) and its derivative "
             "by the share; fills the gradients by both weights.")
        .def("probabilities", &probabilities_binding, array_arg("weights"), array_arg("out"),
             "Fill out (rows x classes) with probabilities; rows are sorted by label, those of one "
             "label in their order, without those of weight 0.")
        .def("curvature", &curvature_binding, array_arg("weights"), nb::arg("squared"),
             nb::arg("tied"), array_arg("chosen"), nb::arg("rows"), nb::arg("seed"),
             array_arg("out"), nb::arg("negligible") = 0.0,
             "Hessian of the log loss (Gauss-Newton matrix of the squared loss) by the chosen "
             "weights, from about this many rows. Rows are left out between classes whose "
             "probabilities have a product of less than negligible times the share of the rarer.")
        .def("curvature_of_part", &curvature_of_part_binding, nb::arg("whole"), array_arg("starts"),
             array_arg("weights"), nb::arg("squared"), nb::arg("tied"), array_arg("chosen"),
             nb::arg("rows"), nb::arg("seed"), array_arg("out"),
             "The same, not scaled up, from those of the rows that the whole table would look at, "
             "which has `whole` packed rows; those of each class here are its neighbours from "
             "`starts` on. Returns the weight of the rows looked at.")
        .def("grams", &grams_binding, array_arg("out"),
             "Fill out (classes x columns x columns) with sums of e e'; returns the sum over rows "
             "of the largest |e|^2.")
        .def("gram_products", &gram_products_binding, array_arg("vector"), array_arg("out"),
             "Fill out with the products of these matrices and vectors, classes x columns.")
        .def("squared_norms", &squared_norms_binding, nb::arg("summed"),
             "What grams returns, or the sum of |e|^2 over rows and all classes.")
        .def("margins", &margins_binding, array_arg("direction"),
             "Smallest and largest growth of the score of a row's class over another class's.");
    nb::class_<EvidenceCurvature>(m, "EvidenceCurvature",
                                  "The Hessian of the log loss of weighted evidence, as a map.")
        .def("__init__", &make_evidence_curvature, nb::arg("evidence"), array_arg("weights"),
             nb::keep_alive<1, 2>())
        .def_prop_ro("nbytes", &EvidenceCurvature::bytes)
        .def("multiply", &multiply_binding, array_arg("vector"), array_arg("out"),
             "Fill out with the product with a vector, both classes x columns.")
        .def("blocks", &blocks_binding, array_arg("out"), nb::arg("tied"),
             "Fill out (groups * classes x width x width) with the blocks on the diagonal that "
             "belong to one class and to `width` useful columns in order: group by group, and "
             "zeros where the last has fewer. If tied, weights are those of all classes, and out "
             "is groups x width x width.");
    nb::class_<EvidencePath> path(
        m, "EvidencePath",
        "Minima of the penalized log loss of weighted evidence, for one penalty after the other.");
    path.def("__init__", &make_evidence_path, nb::arg("evidence"), nb::arg("target"),
             nb::arg("enough"), nb::keep_alive<1, 2>(),
             "Weights are counted from the target; the curvature is that of about `enough` rows.");
    bind_path(path);
    m.def("solve_quadratic", &solve_binding, array_arg("hessian"), array_arg("gradient"),
          array_arg("target"), array_arg("lower"), array_arg("upper"), nb::arg("l1"), nb::arg("l2"),
          nb::arg("tolerance"), nb::arg("most_rounds"), array_arg("x"),
          array_or_none("factor") = nb::none(),
          "Minimize g.(x - x0) + (x - x0)'H(x - x0)/2 + l1 |x - t| + l2 |x - t|^2 within bounds, "
          "each penalty times a factor (1 if None), "
          "in place from x0; returns the rounds and the residual.");
}

}  // namespace lessnaive
