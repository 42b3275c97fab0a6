#include "weights/evidence.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <unordered_map>

#include "base/padding.hpp"
#include "base/parallel.hpp"
#include "base/simd.hpp"
#include "table/parabola.hpp"

namespace lessnaive {
namespace {

constexpr uint32_t kLeftOut = UINT32_MAX;

constexpr int64_t kMostByteCodes = 256;
// Rows that a thread packs at a time.
constexpr int64_t kTaskRows = 16 * kEvidenceBlock;

int code_width(int64_t table_rows) {
    if (table_rows <= kMostByteCodes) return 1;
    return table_rows <= 65536 ? 2 : 4;
}

// `packed`: the number of codes; looking through the table should cost little beside them.
Evidence::TableRows rows_of(const EvidenceLookup& lookup, int classes, int64_t packed) {
    const int64_t rows = lookup.lookup.coded.table_rows;
    Evidence::TableRows out;
    if (rows <= kMostByteCodes || 4 * rows > packed) {
        for (int64_t v = 0; v < rows; ++v) out.kept.push_back(v);
        return out;
    }
    const int tables = lookup.own ? 2 : 1;
    std::vector<double> content(rows * tables * classes);
    for (int64_t v = 0; v < rows; ++v) {
        double* row = content.data() + v * tables * classes;
        std::copy_n(lookup.lookup.table + v * classes, classes, row);
        if (lookup.own) std::copy_n(lookup.own + v * classes, classes, row + classes);
    }
    const size_t bytes = sizeof(double) * tables * classes;
    std::unordered_map<std::string_view, uint32_t> seen;
    for (int64_t v = 0; v < rows; ++v) {
        const char* row = reinterpret_cast<const char*>(content.data() + v * tables * classes);
        const auto [found, is_new] =
            seen.try_emplace({row, bytes}, static_cast<uint32_t>(out.kept.size()));
        if (is_new) out.kept.push_back(v);
        out.place.push_back(found->second);
    }
    return out;
}

// Puts the codes of rows [first, first + count) at their places; `position` is that of row `first`.
template <class T>
void pack_codes(const CodedColumn& coded, const Evidence::TableRows& table, int64_t first,
                int count, const uint32_t* position, T* out) {
    const auto pack = [&](auto code_of) {
        visit_codes(coded, first, count, [&](int k, uint32_t code) {
            if (position[k] != kLeftOut) out[position[k]] = static_cast<T>(code_of(code));
        });
    };
    if (table.place.empty())
        pack([](uint32_t code) { return code; });
    else
        pack([places = table.place.data()](uint32_t code) { return places[code]; });
}

// (1 or classes, rows kept, pad): one table, or one for each label with the own entries put in.
std::vector<double> make_tables(const EvidenceLookup& lookup, const std::vector<int64_t>& kept,
                                int classes, int pad) {
    const int64_t size = static_cast<int64_t>(kept.size()) * pad;
    std::vector<double> out(size * (lookup.own ? classes : 1), 0.0);
    for (int label = 0; label < (lookup.own ? classes : 1); ++label) {
        double* row = out.data() + label * size;
        for (int64_t v : kept) {
            std::copy_n(lookup.lookup.table + v * classes, classes, row);
            if (lookup.own) row[label] = lookup.own[v * classes + label];
            row += pad;
        }
    }
    return out;
}

}  // namespace

void expand_codes(const Evidence::Coded& coded, int64_t first, int count, uint32_t* out) {
    visit_as_codes(coded.data.data(), coded.width, [&](const auto* codes) {
        for (int k = 0; k < count; ++k) out[k] = codes[first + k];
    });
}

void pick_codes(const Evidence::Coded& coded, const std::vector<int64_t>& rows, uint32_t* out) {
    visit_as_codes(coded.data.data(), coded.width, [&](const auto* codes) {
        for (size_t k = 0; k < rows.size(); ++k) out[k] = codes[rows[k]];
    });
}

Evidence::Evidence(const std::vector<EvidenceLookup>& lookups,
                   const std::vector<EvidenceCurve>& curves, const double* intercept,
                   const double* own_intercept, const Column& labels, const double* weights,
                   int64_t rows, int classes, bool merged)
    : classes_(classes), pad_(padded_classes(classes)) {
    pack_rows(labels, weights, rows);
    intercepts_.assign(static_cast<size_t>(classes) * pad_, 0.0);
    for (int label = 0; label < classes; ++label) {
        double* row = intercepts_.data() + label * pad_;
        std::copy_n(intercept, classes, row);
        if (own_intercept) row[label] = own_intercept[label];
    }
    std::vector<TableRows> tables(lookups.size());
    coded_.resize(lookups.size());
    curves_.resize(curves.size());
    const int64_t columns = static_cast<int64_t>(lookups.size() + curves.size());
    parallel_for(columns, columns * rows, [&](int64_t column) {
        if (column < static_cast<int64_t>(lookups.size())) {
            tables[column] = rows_of(lookups[column], classes_, rows_);
            make_room(lookups[column], tables[column].kept, coded_[column]);
        } else {
            const size_t slot = column - lookups.size();
            make_room(curves[slot], curves_[slot]);
        }
    });
    // Few rows at a time, so that tables stored by row are read once.
    const int64_t tasks = (rows + kTaskRows - 1) / kTaskRows;
    parallel_for(tasks, columns * rows, [&](int64_t task) {
        const int64_t end = std::min(rows, (task + 1) * kTaskRows);
        for (int64_t first = task * kTaskRows; first < end; first += kEvidenceBlock) {
            const int count = static_cast<int>(std::min<int64_t>(kEvidenceBlock, end - first));
            for (size_t j = 0; j < lookups.size(); ++j)
                pack_block(lookups[j].lookup.coded, tables[j], first, count, coded_[j]);
            for (size_t j = 0; j < curves.size(); ++j)
                pack_block(curves[j], first, count, curves_[j]);
        }
    });
    position_ = {};
    columns_ = static_cast<int>(columns);
    const auto says_nothing = [](const Coded& coded) {
        return std::all_of(coded.tables.begin(), coded.tables.end(),
                           [](double score) { return score == 0; });
    };
    coded_.erase(std::remove_if(coded_.begin(), coded_.end(), says_nothing), coded_.end());
    if (merged) merge_equal_rows();
}

std::vector<int64_t> Evidence::places() const {
    std::vector<int64_t> out;
    for (const Coded& coded : coded_) out.push_back(coded.place);
    for (const Curve& curve : curves_) out.push_back(curve.place);
    std::sort(out.begin(), out.end());
    return out;
}

void Evidence::make_room(const EvidenceLookup& from, const std::vector<int64_t>& kept,
                         Coded& to) const {
    to.place = from.place;
    to.table_rows = static_cast<int64_t>(kept.size());
    to.width = code_width(to.table_rows);
    to.by_label = from.own != nullptr;
    to.tables = make_tables(from, kept, classes_, pad_);
    to.data.resize(rows_ * to.width);
}

void Evidence::make_room(const EvidenceCurve& from, Curve& to) const {
    to.place = from.place;
    if (const Quadratic* quadratic = std::get_if<Quadratic>(&from.curve))
        to.parameters.assign(quadratic->parameters, quadratic->parameters + 5 * classes_);
    else
        to.lines.emplace(std::get<Piecewise>(from.curve), classes_, classes_);
    to.values.resize(rows_);
    if (from.own) to.own.resize(rows_);
    if (from.sharpness) {
        to.sharpness.resize(rows_);
        to.sharp_share.assign(classes_, 1.0);
        if (from.sharp_share) std::copy_n(from.sharp_share, classes_, to.sharp_share.data());
    }
}

void Evidence::pack_block(const CodedColumn& from, const TableRows& table, int64_t first, int count,
                          Coded& to) const {
    visit_as_codes(to.data.data(), to.width, [&](auto* codes) {
        pack_codes(from, table, first, count, position_.data() + first, codes);
    });
}

void Evidence::pack_block(const EvidenceCurve& from, int64_t first, int count, Curve& to) const {
    double values[kEvidenceBlock];
    const Column& column =
        std::visit([](const auto& curve) -> const Column& { return curve.column; }, from.curve);
    load_numbers(column, first, count, values);
    for (int k = 0; k < count; ++k) {
        const uint32_t place = position_[first + k];
        if (place == kLeftOut) continue;
        to.values[place] = values[k];
        if (from.own) to.own[place] = from.own[first + k];
        if (from.sharpness) to.sharpness[place] = from.sharpness[first + k];
    }
}

void Evidence::pack_rows(const Column& labels, const double* weights, int64_t rows) {
    if (rows >= static_cast<int64_t>(kLeftOut)) throw std::invalid_argument("too many rows");
    const CodedColumn coded{labels, 0, classes_};
    std::vector<uint32_t> label_of(rows);
    for (int64_t first = 0; first < rows; first += kEvidenceBlock) {
        const int count = static_cast<int>(std::min<int64_t>(kEvidenceBlock, rows - first));
        load_codes(coded, first, count, label_of.data() + first);
    }
    const auto counts = [&](int64_t row) { return !weights || weights[row] > 0; };
    std::vector<int64_t> next(classes_ + 1, 0);
    for (int64_t row = 0; row < rows; ++row)
        if (counts(row)) ++next[label_of[row] + 1];
    for (int c = 0; c < classes_; ++c) next[c + 1] += next[c];
    rows_ = next[classes_];
    for (int c = 0; c < classes_; ++c)
        for (int64_t first = next[c]; first < next[c + 1]; first += kEvidenceBlock)
            blocks_.push_back(
                {first, static_cast<int>(std::min<int64_t>(kEvidenceBlock, next[c + 1] - first)),
                 c});
    position_.resize(rows);
    if (weights) weights_.resize(rows_);
    for (int64_t row = 0; row < rows; ++row) {
        if (!counts(row)) {
            position_[row] = kLeftOut;
            continue;
        }
        const int64_t place = next[label_of[row]]++;
        position_[row] = static_cast<uint32_t>(place);
        if (weights) weights_[place] = weights[row];
    }
    total_weight_ = static_cast<double>(rows_);
    if (weights) {
        total_weight_ = 0;
        for (double w : weights_) total_weight_ += w;
    }
}

Evidence Evidence::take(const std::vector<uint32_t>& rows) const {
    Evidence out;
    out.classes_ = classes_;
    out.pad_ = pad_;
    out.columns_ = columns_;
    out.intercepts_ = intercepts_;
    out.rows_ = static_cast<int64_t>(rows.size());
    size_t next = 0;
    for (const Block& block : blocks_) {
        const int64_t first = static_cast<int64_t>(next);
        while (next < rows.size() && rows[next] < block.first + block.count) ++next;
        const int count = static_cast<int>(static_cast<int64_t>(next) - first);
        for (int64_t at = first; at < first + count; at += kEvidenceBlock)
            out.blocks_.push_back(
                {at, static_cast<int>(std::min<int64_t>(kEvidenceBlock, first + count - at)),
                 block.label});
    }
    const auto taken = [&](const auto& from) {
        std::decay_t<decltype(from)> to;
        if (from.empty()) return to;
        to.reserve(rows.size());
        for (uint32_t row : rows) to.push_back(from[row]);
        return to;
    };
    out.weights_ = taken(weights_);
    out.total_weight_ = static_cast<double>(out.rows_);
    if (!weights_.empty()) {
        out.total_weight_ = 0;
        for (double w : out.weights_) out.total_weight_ += w;
    }
    for (const Coded& coded : coded_) {
        Coded to{coded.place, coded.width, {}, coded.table_rows, coded.tables, coded.by_label};
        to.data.resize(rows.size() * coded.width);
        for (size_t k = 0; k < rows.size(); ++k)
            std::memcpy(to.data.data() + k * coded.width,
                        coded.data.data() + int64_t{rows[k]} * coded.width, coded.width);
        out.coded_.push_back(std::move(to));
    }
    for (const Curve& curve : curves_)
        out.curves_.push_back({curve.place, taken(curve.values), taken(curve.own),
                               taken(curve.sharpness), curve.sharp_share, curve.parameters,
                               curve.lines});
    return out;
}

int64_t Evidence::bytes() const {
    int64_t out = static_cast<int64_t>(sizeof(double) * (weights_.size() + intercepts_.size()) +
                                       sizeof(Block) * blocks_.size());
    for (const Coded& coded : coded_)
        out += static_cast<int64_t>(coded.data.size() + sizeof(double) * coded.tables.size());
    for (const Curve& curve : curves_)
        out += static_cast<int64_t>(sizeof(double) *
                                    (curve.values.size() + curve.own.size() +
                                     curve.sharpness.size() + curve.parameters.size())) +
               (curve.lines ? curve.lines->bytes() : 0);
    return out;
}

LESSNAIVE_WIDE static void fill_curve(const double* x, Parabola parabola, int count, double* out) {
    for (int k = 0; k < count; ++k) {
        const double there = parabola.at(x[k]);
        out[k] = x[k] == x[k] ? there : parabola.missing;
    }
}

// The same where each row has a variance of its own: a share of it is divided by the sharpness.
static void fill_sharpened(const double* x, const double* sharpness, double share,
                           Parabola parabola, int count, double* out) {
    for (int k = 0; k < count; ++k) {
        const double z = (x[k] - parabola.center) * parabola.factor;
        const double ratio = share == 1 ? sharpness[k] : 1 / (1 + share * (1 / sharpness[k] - 1));
        const double square = std::min(kFarthest, ratio * z * z);
        const double gain = 0.5 * std::log(ratio) - square;
        out[k] = x[k] == x[k] ? parabola.offset + parabola.weight * gain : parabola.missing;
    }
}

void Evidence::curve_evidence(const Curve& curve, int label, int64_t first, int count, int stride,
                              double* out) const {
    const double* values = curve.values.data() + first;
    if (curve.lines) {
        curve.lines->fill_by_class(values, count, stride, out);
        if (!curve.own.empty())
            std::copy_n(curve.own.data() + first, count, out + int64_t{label} * stride);
        return;
    }
    for (int c = 0; c < classes_; ++c) {
        const Parabola parabola(curve.parameters.data(), classes_, c);
        if (c == label && !curve.own.empty())
            std::copy_n(curve.own.data() + first, count, out + c * stride);
        else if (!curve.sharpness.empty())
            fill_sharpened(values, curve.sharpness.data() + first, curve.sharp_share[c], parabola,
                           count, out + c * stride);
        else
            fill_curve(values, parabola, count, out + c * stride);
    }
}

void Evidence::unpack(double* out) const {
    const int64_t width = columns();
    std::fill_n(out, rows_ * classes_ * width, 0.0);
    std::vector<uint32_t> codes(kEvidenceBlock);
    std::vector<double> values(static_cast<size_t>(classes_) * kEvidenceBlock);
    for (const Block& block : blocks_) {
        double* rows = out + block.first * classes_ * width;
        for (const Coded& column : coded_) {
            const double* table = column.table(block.label, pad_);
            expand_codes(column, block.first, block.count, codes.data());
            for (int k = 0; k < block.count; ++k)
                for (int c = 0; c < classes_; ++c)
                    rows[(int64_t{k} * classes_ + c) * width + column.place] =
                        table[int64_t{codes[k]} * pad_ + c];
        }
        for (const Curve& curve : curves_) {
            curve_evidence(curve, block.label, block.first, block.count, kEvidenceBlock,
                           values.data());
            for (int k = 0; k < block.count; ++k)
                for (int c = 0; c < classes_; ++c)
                    rows[(int64_t{k} * classes_ + c) * width + curve.place] =
                        values[int64_t{c} * kEvidenceBlock + k];
        }
    }
}

}  // namespace lessnaive
