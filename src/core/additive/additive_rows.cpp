#include "additive/additive_rows.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "base/exponential.hpp"
#include "base/padding.hpp"
#include "base/parallel.hpp"
#include "base/simd.hpp"

namespace lessnaive {
namespace {

constexpr int kRows = 256;
constexpr int64_t kMostTasks = 32;
// Bytes of the sums of all tasks: so many for each row, within these bounds. It would take longer
// to add up many long vectors than to look at the rows.
constexpr int64_t kBytesPerRow = 16;
constexpr int64_t kFewestBytes = int64_t{1} << 21, kMostBytes = int64_t{1} << 27;

// Rows that are looked at together: up to kRows, as many as a cache holds until they are looked at
// for the second time.
constexpr int64_t kCacheBytes = int64_t{1} << 19, kFewestRows = 8;

// Calls visit(codes) with the codes of a block as an array of their type.
template <class Visitor>
void with_codes(const AdditiveBlock& block, int64_t first, Visitor&& visit) {
    switch (block.width) {
        case 1:
            return visit(static_cast<const uint8_t*>(block.codes) + first);
        case 2:
            return visit(static_cast<const uint16_t*>(block.codes) + first);
        default:
            return visit(static_cast<const uint32_t*>(block.codes) + first);
    }
}

// Some of the numbers of a row as one: compilers do not find that out by themselves.
template <class Number, int kWidth>
struct Lanes {
#if defined(__GNUC__) || defined(__clang__)
    static constexpr int kMost = 32 / sizeof(Number);
    static constexpr int kCount = kWidth < kMost ? kWidth : kMost;
    typedef Number Type
        __attribute__((vector_size(kCount * sizeof(Number)), aligned(sizeof(Number)), may_alias));
#else
    static constexpr int kCount = 1;
    using Type = Number;
#endif
};

template <class Number>
struct Lanes<Number, 1> {
    static constexpr int kCount = 1;
    using Type = Number;
};

// A row of kWidth numbers.
template <class Number, int kWidth>
struct Strip {
    using Lane = typename Lanes<Number, kWidth>::Type;
    static constexpr int kLanes = kWidth / Lanes<Number, kWidth>::kCount;
    Lane lanes[kLanes];

    LESSNAIVE_INLINE void read(const Number* from) {
        for (int l = 0; l < kLanes; ++l) lanes[l] = reinterpret_cast<const Lane*>(from)[l];
    }
    LESSNAIVE_INLINE void write(Number* to) const {
        for (int l = 0; l < kLanes; ++l) reinterpret_cast<Lane*>(to)[l] = lanes[l];
    }
    // this += from
    LESSNAIVE_INLINE void add(const Number* from) {
        for (int l = 0; l < kLanes; ++l) lanes[l] += reinterpret_cast<const Lane*>(from)[l];
    }
    LESSNAIVE_INLINE void add(Number factor, const Number* from) {
        for (int l = 0; l < kLanes; ++l)
            lanes[l] += factor * reinterpret_cast<const Lane*>(from)[l];
    }
    // to += this
    LESSNAIVE_INLINE void add_to(Number* to) const {
        for (int l = 0; l < kLanes; ++l) reinterpret_cast<Lane*>(to)[l] += lanes[l];
    }
    LESSNAIVE_INLINE void add_to(Number factor, Number* to) const {
        for (int l = 0; l < kLanes; ++l) reinterpret_cast<Lane*>(to)[l] += factor * lanes[l];
    }
};

// ---- scores (count, pad) += parameters of the cells, for kWidth of the outputs of kTogether rows

template <int kWidth, int kTogether, class Place, class Number>
LESSNAIVE_INLINE void add_some(const AdditiveCells& cells, const Place* places,
                               const double* values, const Number* parameters, int pad,
                               Number* scores) {
    const int n_places = cells.places(), n_numbers = cells.numbers();
    Strip<Number, kWidth> sums[kTogether];
    for (int r = 0; r < kTogether; ++r) sums[r].read(scores + r * pad);
    for (int j = 0; j < cells.coded; ++j)
        for (int r = 0; r < kTogether; ++r)
            sums[r].add(parameters + int64_t{places[r * n_places + j]} * pad);
    for (int j = 0; j < cells.hats; ++j)
        for (int r = 0; r < kTogether; ++r) {
            const Number* low = parameters + int64_t{places[r * n_places + cells.coded + j]} * pad;
            const Number share = static_cast<Number>(values[r * n_numbers + j]);
            sums[r].add(1 - share, low);
            sums[r].add(share, low + pad);
        }
    for (int j = 0; j < cells.lines; ++j)
        for (int r = 0; r < kTogether; ++r)
            sums[r].add(static_cast<Number>(values[r * n_numbers + cells.hats + j]),
                        parameters + cells.line_places[j] * pad);
    for (int r = 0; r < kTogether; ++r) sums[r].write(scores + r * pad);
}

template <int kWidth, class Place, class Number>
LESSNAIVE_WIDE void add_cells(const AdditiveCells& cells, const Place* places, const double* values,
                              const Number* parameters, int count, int pad, Number* scores) {
    // Sums of several rows do not wait for each other.
    constexpr int kTogether = kWidth == 1 ? 4 : kWidth <= 8 ? 2 : 1;
    const int n_places = cells.places(), n_numbers = cells.numbers();
    int k = 0;
    for (; k + kTogether <= count; k += kTogether)
        add_some<kWidth, kTogether>(cells, places + int64_t{k} * n_places,
                                    values + int64_t{k} * n_numbers, parameters, pad,
                                    scores + k * pad);
    for (; k < count; ++k)
        add_some<kWidth, 1>(cells, places + int64_t{k} * n_places, values + int64_t{k} * n_numbers,
                            parameters, pad, scores + k * pad);
}

// ---- gradient (parameters, pad) += residuals (count, pad), for kWidth of the outputs

template <int kWidth, class Place, class Number>
LESSNAIVE_WIDE void spread_cells(const AdditiveCells& cells, const Place* places,
                                 const double* values, const Number* residuals, int count, int pad,
                                 Number* gradient) {
    for (int k = 0; k < count; ++k, places += cells.places(), values += cells.numbers()) {
        Strip<Number, kWidth> own;
        own.read(residuals + k * pad);
        for (int j = 0; j < cells.coded; ++j) own.add_to(gradient + int64_t{places[j]} * pad);
        for (int j = 0; j < cells.hats; ++j) {
            Number* low = gradient + int64_t{places[cells.coded + j]} * pad;
            const Number share = static_cast<Number>(values[j]);
            own.add_to(1 - share, low);
            own.add_to(share, low + pad);
        }
        for (int j = 0; j < cells.lines; ++j)
            own.add_to(static_cast<Number>(values[cells.hats + j]),
                       gradient + cells.line_places[j] * pad);
    }
}

// Calls visit(std::integral_constant<int, N>, first output) for all outputs, N at a time.
template <class Visitor>
void by_width(int pad, Visitor&& visit) {
    if (pad <= 16)
        return with_padding(pad, [&](auto width) {
            if constexpr (width() > 0) visit(width, 0);
        });
    int c = 0;
    for (; c + 24 <= pad; c += 24) visit(std::integral_constant<int, 24>{}, c);
    for (; c < pad; c += 8) visit(std::integral_constant<int, 8>{}, c);
}

// ---- scores become probabilities

// Log-odds become the probability of the second class; losses (count) those of the rows.
LESSNAIVE_WIDE void logistic(const int32_t* labels, int count, double* odds, double* losses) {
    double small[kRows];
    for (int k = 0; k < count; ++k) small[k] = odds[k] < 0 ? odds[k] : -odds[k];
    exponentials(small, count);
    for (int k = 0; k < count; ++k) {
        const double ahead = labels[k] == 1 ? odds[k] : -odds[k];
        losses[k] = log_one_plus(small[k]) - (ahead < 0 ? ahead : 0.0);
        const double larger = 1.0 / (1.0 + small[k]);
        odds[k] = odds[k] < 0 ? small[k] * larger : larger;
    }
}

template <int kPad>
LESSNAIVE_WIDE void softmax(const int32_t* labels, int count, int outputs, int pad, double* scores,
                            double* losses) {
    const int width = kPad > 0 ? kPad : pad;
    for (int k = 0; k < count; ++k) {
        double* row = scores + k * width;
        double highest = row[0];
        for (int c = 1; c < outputs; ++c) highest = row[c] > highest ? row[c] : highest;
        losses[k] = highest - row[labels[k]];
        for (int c = 0; c < width; ++c) row[c] -= highest;
        for (int c = outputs; c < width; ++c) row[c] = 2 * kLowestExponent;  // becomes 0
    }
    exponentials(scores, count * width);
    for (int k = 0; k < count; ++k) {
        double* row = scores + k * width;
        double sum = 0;
        for (int c = 0; c < width; ++c) sum += row[c];
        losses[k] += log_of_one_or_more(sum);
        const double inverse = 1.0 / sum;
        for (int c = 0; c < width; ++c) row[c] *= inverse;
    }
}

// Steps u of the scores become weight x (diag(p) - p p') u.
template <int kPad, class Number>
LESSNAIVE_WIDE void bend(const float* p, const double* weights, int count, int pad, Number* u) {
    const int width = kPad > 0 ? kPad : pad;
    for (int k = 0; k < count; ++k) {
        const float* own = p + k * width;
        const Number w = weights ? static_cast<Number>(weights[k]) : Number{1};
        Number* step = u + k * width;
        if constexpr (kPad == 1) {
            step[0] *= w * own[0] * (1 - own[0]);
        } else {
            Number sums[4] = {};
            for (int c = 0; c < width; ++c) sums[c % 4] += own[c] * step[c];
            const Number mean = (sums[0] + sums[1]) + (sums[2] + sums[3]);
            for (int c = 0; c < width; ++c) step[c] = w * own[c] * (step[c] - mean);
        }
    }
}

}  // namespace

AdditiveRows::AdditiveRows(const std::vector<AdditiveBlock>& blocks, const int32_t* labels,
                           const double* weights, int64_t rows, int classes)
    : labels_(labels, labels + rows),
      rows_(rows),
      parameters_(1),
      classes_(classes),
      pad_(padded_classes(classes == 2 ? 1 : classes)),
      total_weight_(static_cast<double>(rows)) {
    copy_cells(blocks);
    if (weights != nullptr) {
        weights_.assign(weights, weights + rows);
        total_weight_ = 0;
        for (double weight : weights_) total_weight_ += weight;
    }
}

void AdditiveRows::copy_cells(const std::vector<AdditiveBlock>& blocks) {
    std::vector<int64_t> first(blocks.size());
    for (size_t b = 0; b < blocks.size(); ++b) {
        first[b] = parameters_ - 1;
        parameters_ += blocks[b].size;
        cells_.coded += blocks[b].kind == AdditiveBlock::coded;
        cells_.hats += blocks[b].kind == AdditiveBlock::hat;
        cells_.lines += blocks[b].kind == AdditiveBlock::line;
    }
    const bool is_narrow = parameters_ <= 1 << 16;
    const int n_places = cells_.places(), n_numbers = cells_.numbers();
    if (is_narrow)
        cells_.narrow.resize(rows_ * n_places);
    else
        cells_.wide.resize(rows_ * n_places);
    cells_.values.resize(rows_ * n_numbers);
    // Where the next block of each kind stands among all blocks.
    int next[3] = {0, cells_.coded, cells_.places()};
    std::vector<int> place(blocks.size());
    for (size_t b = 0; b < blocks.size(); ++b) {
        order_.push_back(place[b] = next[blocks[b].kind]++);
        if (blocks[b].kind == AdditiveBlock::line) cells_.line_places.push_back(first[b]);
    }
    const int64_t pieces = (rows_ + kRows - 1) / kRows;
    parallel_for(pieces, rows_ * static_cast<int64_t>(blocks.size()), [&](int64_t piece) {
        const int64_t begin = piece * kRows, end = std::min(rows_, begin + kRows);
        for (size_t b = 0; b < blocks.size(); ++b) {
            const AdditiveBlock& block = blocks[b];
            if (block.kind != AdditiveBlock::line)
                with_codes(block, begin, [&](auto codes) {
                    for (int64_t i = begin; i < end; ++i) {
                        const int64_t at = i * n_places + place[b],
                                      own = first[b] + codes[i - begin];
                        if (is_narrow)
                            cells_.narrow[at] = static_cast<uint16_t>(own);
                        else
                            cells_.wide[at] = static_cast<uint32_t>(own);
                    }
                });
            if (block.kind == AdditiveBlock::coded) continue;
            for (int64_t i = begin; i < end; ++i)
                cells_.values[i * n_numbers + place[b] - cells_.coded] = block.values[i];
        }
    });
}

template <class Visitor>
void AdditiveRows::with_cells(int64_t first, Visitor&& visit) const {
    const double* values = cells_.values.data() + first * cells_.numbers();
    if (cells_.wide.empty())
        visit(cells_.narrow.data() + first * cells_.places(), values);
    else
        visit(cells_.wide.data() + first * cells_.places(), values);
}

void AdditiveRows::row_entries(int64_t row, int64_t* places, double* factors) const {
    with_cells(row, [&](auto own, const double* values) {
        for (int block : order_) {
            if (block < cells_.coded) {
                *places++ = own[block];
                *factors++ = 1.0;
                continue;
            }
            const double value = values[block - cells_.coded];
            if (block >= cells_.places()) {
                *places++ = cells_.line_places[block - cells_.places()];
            } else {
                *places++ = own[block];
                *places++ = int64_t{own[block]} + 1;
                *factors++ = 1.0 - value;
            }
            *factors++ = value;
        }
    });
    *places = parameters_ - 1;
    *factors = 1.0;
}

template <class Number, class Work>
void AdditiveRows::over_rows(int64_t size, Number* out, const Work& work) const {
    const int64_t bytes = std::max<int64_t>(1, size) * static_cast<int64_t>(sizeof(Number));
    const int64_t room = std::clamp(kBytesPerRow * rows_, kFewestBytes, kMostBytes);
    const int64_t most = std::clamp<int64_t>(room / bytes, 1, kMostTasks);
    const int64_t pieces = (rows_ + kRows - 1) / kRows;
    const int64_t each = std::max<int64_t>(8, (pieces + most - 1) / most);
    const int64_t tasks = (pieces + each - 1) / each;
    const int64_t together =
        std::clamp<int64_t>(kCacheBytes / std::max<int64_t>(1, cells_.bytes()), kFewestRows, kRows);
    std::vector<std::vector<Number>> parts(tasks > 1 ? tasks - 1 : 0);
    std::fill_n(out, size, Number{0});
    parallel_for(tasks, cells(), [&](int64_t t) {
        Number* own = out;
        if (t > 0) {
            parts[t - 1].assign(size, Number{0});
            own = parts[t - 1].data();
        }
        const int64_t end = std::min(rows_, (t + 1) * each * kRows);
        for (int64_t first = t * each * kRows; first < end; first += together)
            work(own, first, static_cast<int>(std::min(together, end - first)));
    });
    for (const std::vector<Number>& part : parts)
        for (int64_t i = 0; i < size; ++i) out[i] += part[i];
}

template <class Number>
void AdditiveRows::add_scores(const Number* parameters, int64_t first, int count,
                              Number* scores) const {
    const Number* intercept = parameters + (parameters_ - 1) * pad_;
    for (int k = 0; k < count; ++k) std::copy_n(intercept, pad_, scores + k * pad_);
    with_cells(first, [&](auto places, const double* values) {
        by_width(pad_, [&](auto width, int c) {
            add_cells<width()>(cells_, places, values, parameters + c, count, pad_, scores + c);
        });
    });
}

template <class Number>
void AdditiveRows::add_gradient(const Number* residuals, int64_t first, int count,
                                Number* gradient) const {
    Number* intercept = gradient + (parameters_ - 1) * pad_;
    for (int k = 0; k < count; ++k)
        for (int c = 0; c < pad_; ++c) intercept[c] += residuals[k * pad_ + c];
    with_cells(first, [&](auto places, const double* values) {
        by_width(pad_, [&](auto width, int c) {
            spread_cells<width()>(cells_, places, values, residuals + c, count, pad_, gradient + c);
        });
    });
}

void AdditiveRows::scores(const double* parameters, double* out) const {
    double nothing = 0;
    over_rows(0, &nothing, [&](double*, int64_t first, int count) {
        std::vector<double> scores(static_cast<size_t>(count) * pad_);
        add_scores(parameters, first, count, scores.data());
        for (int k = 0; k < count; ++k)
            std::copy_n(scores.data() + k * pad_, outputs(), out + (first + k) * outputs());
    });
}

double AdditiveRows::loss(const double* parameters, double* gradient, float* probabilities) const {
    // The last of the numbers of a task is its loss.
    const int64_t size = gradient ? length() : 0;
    std::vector<double> sums(size + 1);
    over_rows(size + 1, sums.data(), [&](double* own, int64_t first, int count) {
        std::vector<double> residuals(static_cast<size_t>(count) * pad_), losses(count);
        double* p = residuals.data();
        const int32_t* labels = labels_.data() + first;
        const double* weights = weights_from(first);
        add_scores(parameters, first, count, p);
        if (pad_ == 1)
            logistic(labels, count, p, losses.data());
        else
            with_padding(pad_, [&](auto width) {
                softmax<width()>(labels, count, outputs(), pad_, p, losses.data());
            });
        double sum = 0;
        for (int k = 0; k < count; ++k) sum += weights ? weights[k] * losses[k] : losses[k];
        own[size] += sum;
        if (probabilities)
            for (int k = 0; k < count * pad_; ++k)
                probabilities[first * pad_ + k] = static_cast<float>(p[k]);
        if (!gradient) return;
        for (int k = 0; k < count; ++k)
            p[k * pad_ + (pad_ == 1 ? 0 : labels[k])] -= pad_ == 1 ? labels[k] : 1.0;
        if (weights)
            for (int k = 0; k < count; ++k)
                for (int c = 0; c < pad_; ++c) p[k * pad_ + c] *= weights[k];
        add_gradient(p, first, count, own);
    });
    if (gradient) std::copy_n(sums.data(), size, gradient);
    return sums[size];
}

void AdditiveRows::hessian_product(const float* probabilities, const double* direction,
                                   double* out) const {
    // Single precision saves nothing on a few rows, and its rounding differs with their order.
    if (rows_ <= kFewRows) return product_as<double>(probabilities, direction, out);
    product_as<float>(probabilities, direction, out);
}

template <class Number>
void AdditiveRows::product_as(const float* probabilities, const double* direction,
                              double* out) const {
    const std::vector<Number> steps_of_parameters(direction, direction + length());
    std::vector<Number> product(length());
    over_rows(length(), product.data(), [&](Number* own, int64_t first, int count) {
        std::vector<Number> steps(static_cast<size_t>(count) * pad_);
        add_scores(steps_of_parameters.data(), first, count, steps.data());
        with_padding(pad_, [&](auto width) {
            bend<width()>(probabilities + first * pad_, weights_from(first), count, pad_,
                          steps.data());
        });
        add_gradient(steps.data(), first, count, own);
    });
    std::copy(product.begin(), product.end(), out);
}

void AdditiveRows::bands(const float* probabilities, double* diagonal, double* beside) const {
    std::vector<double> both(2 * length());
    over_rows(2 * length(), both.data(), [&](double* own, int64_t first, int count) {
        std::vector<double> bend(pad_), factors(entries());
        std::vector<int64_t> places(entries());
        for (int64_t i = first; i < first + count; ++i) {
            for (int c = 0; c < pad_; ++c) {
                const double p = probabilities[i * pad_ + c];
                bend[c] = p * (1.0 - p) * weight(i);
            }
            row_entries(i, places.data(), factors.data());
            for (int64_t e = 0; e < entries(); ++e) {
                double* here = own + places[e] * pad_;
                const double square = factors[e] * factors[e];
                for (int c = 0; c < pad_; ++c) here[c] += square * bend[c];
            }
            add_beside(i, bend.data(), own + length());
        }
    });
    std::copy_n(both.data(), length(), diagonal);
    std::copy_n(both.data() + length(), length(), beside);
}

void AdditiveRows::add_beside(int64_t row, const double* bend, double* beside) const {
    with_cells(row, [&](auto places, const double* values) {
        for (int j = 0; j < cells_.hats; ++j) {
            double* next = beside + int64_t{places[cells_.coded + j]} * pad_;
            const double product = values[j] * (1.0 - values[j]);
            for (int c = 0; c < pad_; ++c) next[c] += product * bend[c];
        }
    });
}

void AdditiveRows::gram(const float* factor, int64_t factor_stride, int64_t enough, double* out,
                        int64_t stride) const {
    const int64_t pieces = (rows_ + kRows - 1) / kRows;
    const int64_t wanted = std::clamp<int64_t>((enough + kRows - 1) / kRows, 1, pieces);
    const int64_t each = pieces / wanted, n = entries();
    // Rows with weights are taken at even distances of weight, so that no heavy one is missed.
    const bool by_weight = each > 1 && !weights_.empty();
    const int64_t step = by_weight ? 1 : each;
    const double distance = static_cast<double>(each) * total_weight_ / static_cast<double>(rows_);
    std::vector<int64_t> places(n);
    std::vector<double> factors(n);
    double seen = 0, up_to = 0;
    for (int64_t i = 0; i < parameters_; ++i) std::fill_n(out + i * stride, parameters_, 0.0);
    for (int64_t piece = 0; piece < pieces; piece += step) {
        poll();
        for (int64_t i = piece * kRows; i < std::min(rows_, (piece + 1) * kRows); ++i) {
            double own = weight(i);
            if (by_weight) {
                const double before = std::ceil(up_to / distance);
                up_to += own;
                own = distance * (std::ceil(up_to / distance) - before);
                if (own == 0) continue;
            }
            seen += own;
            row_entries(i, places.data(), factors.data());
            const double w = own * (factor ? factor[i * factor_stride] : 1.0);
            for (int64_t a = 0; a < n; ++a) {
                double* row = out + places[a] * stride;
                const double scaled = w * factors[a];
                for (int64_t b = a; b < n; ++b) row[places[b]] += scaled * factors[b];
            }
        }
    }
    const double scale = seen > 0 ? total_weight_ / seen : 0.0;
    if (each > 1)
        for (int64_t i = 0; i < parameters_; ++i)
            for (int64_t j = i; j < parameters_; ++j) out[i * stride + j] *= scale;
}

void AdditiveRows::mean_curvature(const float* probabilities, double* out) const {
    std::vector<double> sums(pad_);
    over_rows(pad_, sums.data(), [&](double* own, int64_t first, int count) {
        for (int k = 0; k < count; ++k) {
            const double w = weight(first + k);
            for (int c = 0; c < pad_; ++c) {
                const double p = probabilities[(first + k) * pad_ + c];
                own[c] += w * p * (1.0 - p);
            }
        }
    });
    for (int c = 0; c < outputs(); ++c) out[c] = sums[c] / total_weight_;
}

}  // namespace lessnaive
