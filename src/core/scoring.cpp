#include "scoring.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "parallel.hpp"

namespace lessnaive {
namespace {

constexpr int kBlock = 256;
constexpr int64_t kBlocksPerTask = 16;
// A squared distance larger than this is cut off, so that scores stay finite and can be summed.
constexpr double kFarthest = 1e200;

// The number of classes rounded up, so that the inner loops have a length known when compiling.
int padded(int classes) {
    for (int size : {1, 2, 4, 8, 16})
        if (classes <= size) return size;
    return (classes + 7) / 8 * 8;
}

std::vector<double> pad_rows(const double* table, int64_t rows, int classes, int pad) {
    std::vector<double> out(rows * pad, 0.0);
    for (int64_t r = 0; r < rows; ++r)
        std::copy(table + r * classes, table + (r + 1) * classes, out.begin() + r * pad);
    return out;
}

struct Plan {
    const std::vector<Lookup>& lookups;
    const std::vector<Quadratic>& quadratics;
    std::vector<std::vector<double>> tables, parameters;  // padded
    std::vector<double> intercept;
    int classes, pad;
};

template <int kPad>
void add_lookup(const uint32_t* codes, const double* table, int count, int pad, double* scores) {
    const int width = kPad > 0 ? kPad : pad;
    for (int k = 0; k < count; ++k) {
        const double* row = table + int64_t{codes[k]} * width;
        double* sum = scores + k * width;
        for (int c = 0; c < width; ++c) sum[c] += row[c];
    }
}

// Returns whether a value was infinite.
template <int kPad>
bool add_quadratic(const double* x, const double* parameters, int count, int pad, double* scores) {
    const int width = kPad > 0 ? kPad : pad;
    const double *offset = parameters, *center = offset + width, *inverse_scale = center + width,
                 *missing = inverse_scale + width;
    bool infinite = false;
    for (int k = 0; k < count; ++k) {
        const double value = x[k];
        double* sum = scores + k * width;
        if (value != value) {
            for (int c = 0; c < width; ++c) sum[c] += missing[c];
            continue;
        }
        infinite |= std::fabs(value) > 1.7976931348623157e308;
        for (int c = 0; c < width; ++c) {
            const double z = (value - center[c]) * inverse_scale[c];
            const double half = 0.5 * z * z;
            sum[c] += offset[c] - (half < kFarthest ? half : kFarthest);
        }
    }
    return infinite;
}

void finish_row(double* row, int classes, Output output) {
    if (output == Output::joint) return;
    double highest = row[0];
    for (int c = 1; c < classes; ++c) highest = std::max(highest, row[c]);
    double sum = 0;
    if (output == Output::probability) {
        for (int c = 0; c < classes; ++c) sum += row[c] = std::exp(row[c] - highest);
        for (int c = 0; c < classes; ++c) row[c] /= sum;
    } else {
        for (int c = 0; c < classes; ++c) sum += std::exp(row[c] - highest);
        const double normalizer = highest + std::log(sum);
        for (int c = 0; c < classes; ++c) row[c] -= normalizer;
    }
}

template <int kPad>
int64_t score_block(const Plan& plan, int64_t first, int count, double* scores) {
    const int pad = plan.pad;
    uint32_t codes[kBlock];
    double x[kBlock];
    int64_t infinite = -1;
    for (int k = 0; k < count; ++k)
        std::copy(plan.intercept.begin(), plan.intercept.end(), scores + k * pad);
    for (size_t j = 0; j < plan.lookups.size(); ++j) {
        load_codes(plan.lookups[j].coded, first, count, codes);
        add_lookup<kPad>(codes, plan.tables[j].data(), count, pad, scores);
    }
    for (size_t j = 0; j < plan.quadratics.size(); ++j) {
        load_numbers(plan.quadratics[j].column, first, count, x);
        if (add_quadratic<kPad>(x, plan.parameters[j].data(), count, pad, scores) && infinite < 0)
            infinite = static_cast<int64_t>(j);
    }
    return infinite;
}

int64_t score_block(const Plan& plan, int64_t first, int count, double* scores) {
    switch (plan.pad) {
        case 1:
            return score_block<1>(plan, first, count, scores);
        case 2:
            return score_block<2>(plan, first, count, scores);
        case 4:
            return score_block<4>(plan, first, count, scores);
        case 8:
            return score_block<8>(plan, first, count, scores);
        case 16:
            return score_block<16>(plan, first, count, scores);
        default:
            return score_block<0>(plan, first, count, scores);
    }
}

Plan make_plan(const std::vector<Lookup>& lookups, const std::vector<Quadratic>& quadratics,
               const double* intercept, int classes) {
    Plan plan{lookups, quadratics, {}, {}, {}, classes, padded(classes)};
    plan.intercept = pad_rows(intercept, 1, classes, plan.pad);
    for (const Lookup& lookup : lookups)
        plan.tables.push_back(pad_rows(lookup.table, lookup.coded.table_rows, classes, plan.pad));
    for (const Quadratic& quadratic : quadratics) {
        plan.parameters.push_back(pad_rows(quadratic.parameters, 4, classes, plan.pad));
        double* scale = plan.parameters.back().data() + 2 * plan.pad;
        std::transform(scale, scale + classes, scale, [](double s) { return 1.0 / s; });
    }
    return plan;
}

}  // namespace

int64_t score(const std::vector<Lookup>& lookups, const std::vector<Quadratic>& quadratics,
              const double* intercept, int64_t rows, int classes, Output output, double* out) {
    const Plan plan = make_plan(lookups, quadratics, intercept, classes);
    const int64_t task_rows = kBlock * kBlocksPerTask;
    const int64_t tasks = (rows + task_rows - 1) / task_rows;
    const int64_t cells = rows * static_cast<int64_t>(lookups.size() + quadratics.size() + 1);
    const int64_t none = static_cast<int64_t>(quadratics.size());
    std::atomic<int64_t> infinite{none};
    parallel_for(tasks, cells, [&](int64_t task) {
        std::vector<double> scores(kBlock * plan.pad);
        const int64_t end = std::min(rows, (task + 1) * task_rows);
        for (int64_t first = task * task_rows; first < end; first += kBlock) {
            const int count = static_cast<int>(std::min<int64_t>(kBlock, end - first));
            const int64_t found = score_block(plan, first, count, scores.data());
            int64_t known = infinite;
            while (found >= 0 && found < known && !infinite.compare_exchange_weak(known, found)) {
            }
            for (int k = 0; k < count; ++k) {
                double* row = out + (first + k) * classes;
                std::copy_n(scores.data() + k * plan.pad, classes, row);
                finish_row(row, classes, output);
            }
        }
    });
    return infinite == none ? -1 : infinite.load();
}

}  // namespace lessnaive
