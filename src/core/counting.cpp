#include "counting.hpp"

#include <algorithm>

#include "parallel.hpp"

namespace lessnaive {
namespace {

constexpr int kBlock = 1024;

void add_block(const uint32_t* codes, const uint32_t* labels, const double* weights, int count,
               int classes, double* table) {
    if (weights != nullptr) {
        for (int k = 0; k < count; ++k)
            table[int64_t{codes[k]} * classes + labels[k]] += weights[k];
    } else {
        for (int k = 0; k < count; ++k) table[int64_t{codes[k]} * classes + labels[k]] += 1.0;
    }
}

}  // namespace

void count(const std::vector<CodedColumn>& columns, const Column& labels, const double* weights,
           int64_t rows, int classes, const std::vector<double*>& tables) {
    const int64_t width = static_cast<int64_t>(columns.size());
    const int64_t tasks = std::min<int64_t>(width, max_threads());
    const CodedColumn label_codes{labels, 0, classes};
    parallel_for(tasks, rows * width, [&](int64_t task) {
        uint32_t label_block[kBlock], codes[kBlock];
        for (int64_t first = 0; first < rows; first += kBlock) {
            const int block = static_cast<int>(std::min<int64_t>(kBlock, rows - first));
            load_codes(label_codes, first, block, label_block);
            for (int64_t j = width * task / tasks; j < width * (task + 1) / tasks; ++j) {
                load_codes(columns[j], first, block, codes);
                add_block(codes, label_block, weights ? weights + first : nullptr, block, classes,
                          tables[j]);
            }
        }
    });
}

}  // namespace lessnaive
