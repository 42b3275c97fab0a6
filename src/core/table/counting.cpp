#include "table/counting.hpp"

#include <algorithm>

#include "base/parallel.hpp"

namespace lessnaive {
namespace {

constexpr int kBlock = 1024;
// Tables up to this many cells are counted in whole numbers first, which add faster than doubles.
constexpr int64_t kSmallTable = 1 << 14;
// 32-bit counters are emptied before they can overflow.
constexpr int64_t kFlushRows = int64_t{1} << 30;

class ColumnCounter {
  public:
    ColumnCounter(const CodedColumn& column, int classes, double* table, bool weighted)
        : column_(column), classes_(classes), table_(table) {
        const int64_t cells = column.table_rows * classes;
        if (!weighted && cells <= kSmallTable) whole_.assign(cells, 0);
    }

    void add(const uint32_t* labels, const double* weights, int64_t first, int count) {
        const int64_t classes = classes_;
        if (weights != nullptr) {
            double* table = table_;
            visit_codes(column_, first, count, [=](int k, uint32_t row) {
                table[row * classes + labels[k]] += weights[first + k];
            });
        } else if (whole_.empty()) {
            double* table = table_;
            visit_codes(column_, first, count,
                        [=](int k, uint32_t row) { table[row * classes + labels[k]] += 1.0; });
        } else {
            uint32_t* whole = whole_.data();
            visit_codes(column_, first, count,
                        [=](int k, uint32_t row) { ++whole[row * classes + labels[k]]; });
        }
    }

    void flush() {
        for (size_t i = 0; i < whole_.size(); ++i) table_[i] += whole_[i];
        std::fill(whole_.begin(), whole_.end(), 0);
    }

  private:
    CodedColumn column_;
    int classes_;
    double* table_;
    std::vector<uint32_t> whole_;
};

}  // namespace

void count(const std::vector<CodedColumn>& columns, const Column& labels, const double* weights,
           int64_t rows, int classes, const std::vector<double*>& tables) {
    const int64_t width = static_cast<int64_t>(columns.size());
    const int64_t tasks = std::min<int64_t>(width, max_threads());
    const CodedColumn label_codes{labels, 0, classes};
    parallel_for(tasks, rows * width, [&](int64_t task) {
        std::vector<ColumnCounter> counters;
        for (int64_t j = width * task / tasks; j < width * (task + 1) / tasks; ++j)
            counters.emplace_back(columns[j], classes, tables[j], weights != nullptr);
        uint32_t label_block[kBlock];
        for (int64_t first = 0; first < rows; first += kBlock) {
            const int block = static_cast<int>(std::min<int64_t>(kBlock, rows - first));
            load_codes(label_codes, first, block, label_block);
            for (ColumnCounter& counter : counters) counter.add(label_block, weights, first, block);
            if ((first + kBlock) % kFlushRows == 0)
                for (ColumnCounter& counter : counters) counter.flush();
        }
        for (ColumnCounter& counter : counters) counter.flush();
    });
}

}  // namespace lessnaive
