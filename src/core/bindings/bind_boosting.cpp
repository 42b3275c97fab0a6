// Boosting of trees that are restricted to pairs of columns.
#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "additive/pair_boosting.hpp"
#include "bindings/bindings.hpp"
#include "bindings/checks.hpp"
#include "bindings/in_use.hpp"
#include "bindings/overlap.hpp"
#include "bindings/released.hpp"

namespace lessnaive {
namespace {

using CodeArray = ArrayOf<const uint8_t, 1>;

constexpr int64_t kMostRows = (int64_t{1} << 31) - 1;
constexpr int64_t kMostLeaves = 1 << 10;

// Holds its own copy of the codes, so that nothing depends on arrays of the caller.
class BoostedPairs {
  public:
    BoostedPairs(const std::vector<CodeArray>& columns, const std::vector<int64_t>& n_codes,
                 const std::vector<bool>& ordered,
                 const std::vector<std::tuple<int64_t, int64_t>>& pairs, const Array& labels,
                 int64_t classes, const Vector& weights, const std::optional<Vector>& held_out,
                 int64_t leaves, double l2, double least_weight, double rate, double share,
                 const std::vector<int64_t>& order, int64_t seed) {
        rows_ = length(labels);
        require(rows_ > 0 && rows_ <= kMostRows, "too few rows, or too many");
        require(classes_of(classes) >= 2, "there must be two classes or more");
        require(2 <= leaves && leaves <= kMostLeaves, "wrong number of leaves");
        require(l2 >= 0 && least_weight >= 0 && rate > 0 && std::isfinite(l2) &&
                    std::isfinite(least_weight) && std::isfinite(rate),
                "a setting is out of range");
        require(0 < share && share <= 1, "the share of columns must be within (0, 1]");
        Memory().read(weights).read(held_out).require_apart();
        check_weights(weights);
        if (held_out) check_weights(*held_out);
        add_columns(columns, n_codes, ordered);
        std::vector<TreeColumn> views;
        for (size_t j = 0; j < codes_.size(); ++j)
            views.push_back({codes_[j].data(), static_cast<int>(n_codes[j]), ordered[j]});
        const double* held = held_out ? held_out->data() : nullptr;
        const BoostingRules rules{{static_cast<int>(leaves), l2, least_weight}, rate};
        boosting_ = std::make_unique<PairBoosting>(
            std::move(views), partners_of(pairs), checked_labels(labels, classes),
            static_cast<int>(classes), weights.data(), held, rules,
            ColumnDraw(checked_order(order), codes_.size(), share, static_cast<uint64_t>(seed)));
    }

    PairBoosting& boosting() { return *boosting_; }

    void table(int64_t first, std::optional<int64_t> second, int64_t rounds, Table out) {
        const InUse held(this, InUse::How::read);
        const int64_t columns = static_cast<int64_t>(codes_.size()), other = second.value_or(-1);
        require(0 <= first && first < columns, "no such column");
        require(!second || (first < other && other < columns),
                "a pair must be two ascending places");
        const int64_t cells = n_codes_[first] * (second ? n_codes_[other] : 1);
        require(has_shape(out, {cells, boosting_->outputs()}), "the table has the wrong shape");
        Memory().fill(out).require_apart();
        require(0 <= rounds && rounds <= boosting_->rounds(), "there are not as many rounds");
        boosting_->add_table(static_cast<int>(first), static_cast<int>(other),
                             static_cast<int>(rounds), out.data());
    }

    void scores(Table out) {
        const InUse held(this, InUse::How::read);
        require(has_shape(out, {rows_, boosting_->outputs()}), "the scores have the wrong shape");
        Memory().fill(out).require_apart();
        std::copy(boosting_->scores().begin(), boosting_->scores().end(), out.data());
    }

  private:
    void check_weights(const Vector& weights) const {
        require(length(weights) == rows_, "weights differ in length");
        double total = 0;
        for (int64_t i = 0; i < rows_; ++i) {
            require(weights.data()[i] >= 0, "weights must not be negative");
            total += weights.data()[i];
        }
        require(total > 0 && std::isfinite(total), "the weights must have a positive, finite sum");
    }

    void add_columns(const std::vector<CodeArray>& columns, const std::vector<int64_t>& n_codes,
                     const std::vector<bool>& ordered) {
        require(!columns.empty() && columns.size() == n_codes.size() &&
                    columns.size() == ordered.size(),
                "columns, numbers of codes and kinds differ in number");
        for (size_t j = 0; j < columns.size(); ++j) {
            require(length(columns[j]) == rows_, "columns differ in length");
            require(1 <= n_codes[j] && n_codes[j] <= 256, "wrong number of codes");
            const uint8_t* codes = columns[j].data();
            uint8_t largest = 0;
            for (int64_t i = 0; i < rows_; ++i) largest = std::max(largest, codes[i]);
            require(largest < n_codes[j], "a code is out of range");
            codes_.emplace_back(codes, codes + rows_);
        }
        n_codes_ = n_codes;
    }

    std::vector<std::vector<int>> partners_of(
        const std::vector<std::tuple<int64_t, int64_t>>& pairs) const {
        std::vector<std::vector<int>> out(codes_.size());
        for (const auto& [first, second] : pairs) {
            require(0 <= first && first < second && second < static_cast<int64_t>(codes_.size()),
                    "a pair must be two ascending places of columns");
            out[first].push_back(static_cast<int>(second));
            out[second].push_back(static_cast<int>(first));
        }
        return out;
    }

    std::vector<int> checked_order(const std::vector<int64_t>& order) const {
        std::vector<char> seen(codes_.size(), 0);
        for (int64_t j : order) {
            require(0 <= j && j < static_cast<int64_t>(seen.size()) && !seen[j],
                    "the order must have columns, and none twice");
            seen[j] = 1;
        }
        return {order.begin(), order.end()};
    }

    std::vector<int32_t> checked_labels(const Array& labels, int64_t classes) const {
        const Column column = labels_of(labels, rows_, classes);
        std::vector<int32_t> out(rows_);
        dispatch(column.dtype, [&](auto type) {
            using T = decltype(type);
            for (int64_t i = 0; i < rows_; ++i) out[i] = static_cast<int32_t>(cell<T>(column, i));
        });
        return out;
    }

    int64_t rows_ = 0;
    std::vector<std::vector<uint8_t>> codes_;
    std::vector<int64_t> n_codes_;
    std::unique_ptr<PairBoosting> boosting_;
};

}  // namespace

void bind_boosting(nb::module_& m) {
    nb::class_<BoostedPairs>(m, "PairBoosting",
                             "Gradient boosting of trees that are restricted to pairs of columns.")
        .def(nb::init<const std::vector<CodeArray>&, const std::vector<int64_t>&,
                      const std::vector<bool>&, const std::vector<std::tuple<int64_t, int64_t>>&,
                      const Array&, int64_t, const Vector&, const std::optional<Vector>&, int64_t,
                      double, double, double, double, const std::vector<int64_t>&, int64_t>(),
             array_arg("columns"), nb::arg("n_codes"), nb::arg("ordered"), nb::arg("pairs"),
             array_arg("labels"), nb::arg("classes"), array_arg("weights"),
             array_or_none("held_out"), nb::arg("leaves"), nb::arg("l2"), nb::arg("least_weight"),
             nb::arg("rate"), nb::arg("share"), nb::arg("order"), nb::arg("seed"))
        .def(
            "advance",
            [](BoostedPairs& self, int64_t rounds) {
                require(0 <= rounds && rounds <= kMostRows, "wrong number of rounds");
                const InUse held(&self, InUse::How::change);
                const Released release;
                self.boosting().advance(static_cast<int>(rounds));
            },
            nb::arg("rounds"), "Add rounds.")
        .def_prop_ro("outputs", [](BoostedPairs& self) { return self.boosting().outputs(); })
        .def_prop_ro("rounds",
                     [](BoostedPairs& self) {
                         const InUse held(&self, InUse::How::read);
                         return self.boosting().rounds();
                     })
        .def_prop_ro("start", [](BoostedPairs& self) { return self.boosting().start(); })
        .def("scores", &BoostedPairs::scores, array_arg("out"),
             "Scores of all rows, (rows, outputs).")
        .def("table", &BoostedPairs::table, nb::arg("first"), nb::arg("second").none(),
             nb::arg("rounds"), array_arg("out"),
             "Add what the first rounds say of one column, or of a pair beyond its columns, to a "
             "table (codes, outputs), the codes of the second column running fastest.");
}

}  // namespace lessnaive
