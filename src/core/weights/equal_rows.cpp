// Rows of one class whose codes are all the same have the same scores: they become one row, with
// the weight of all of them.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/interrupt.hpp"
#include "weights/evidence.hpp"

namespace lessnaive {
namespace {

constexpr uint64_t kOdd = 0x9E3779B97F4A7C15u;
constexpr uint32_t kNobody = UINT32_MAX;
// With a larger share of rows left, weights and tables in another order cost what it saves.
constexpr double kWorthwhile = 0.9;

// (rows): rows of the same codes have the same number, others hardly ever.
std::vector<uint64_t> numbers_of(const std::vector<Evidence::Coded>& coded, int64_t rows) {
    std::vector<uint64_t> out(rows, 0);
    for (const Evidence::Coded& column : coded) {
        poll();
        visit_as_codes(column.data.data(), column.width, [&](const auto* codes) {
            for (int64_t row = 0; row < rows; ++row) {
                const uint64_t mixed = (out[row] ^ codes[row]) * kOdd;
                out[row] = mixed ^ (mixed >> 32);
            }
        });
    }
    return out;
}

bool are_equal(const std::vector<Evidence::Coded>& coded, int64_t one, int64_t other) {
    return std::all_of(coded.begin(), coded.end(), [&](const Evidence::Coded& column) {
        const uint8_t* data = column.data.data();
        return std::equal(data + one * column.width, data + (one + 1) * column.width,
                          data + other * column.width);
    });
}

// The rows of one class that have been met, found by their numbers.
class Met {
  public:
    explicit Met(int count) {
        size_t size = 2;
        while (size < 2 * static_cast<size_t>(count)) size *= 2;
        slots_.assign(size, kNobody);
    }

    // The first row met for which `same` is true, or this one if there is none.
    template <class Same>
    uint32_t first(uint64_t number, uint32_t row, Same&& same) {
        const size_t last = slots_.size() - 1;
        for (size_t at = number & last;; at = (at + 1) & last) {
            if (slots_[at] == kNobody) slots_[at] = row;
            if (slots_[at] == row || same(slots_[at])) return slots_[at];
        }
    }

  private:
    std::vector<uint32_t> slots_;
};

}  // namespace

void Evidence::merge_equal_rows() {
    if (!curves_.empty()) return;
    const std::vector<uint64_t> numbers = numbers_of(coded_, rows_);
    std::vector<uint32_t> kept;
    std::vector<double> weights, sums(rows_, 0.0);
    for (size_t b = 0; b < blocks_.size();) {
        const int label = blocks_[b].label;
        const int64_t first = blocks_[b].first;
        int64_t end = first;
        for (; b < blocks_.size() && blocks_[b].label == label; ++b) end += blocks_[b].count;
        Met met(static_cast<int>(end - first));
        for (int64_t row = first; row < end; ++row) {
            const uint32_t like =
                met.first(numbers[row], static_cast<uint32_t>(row), [&](uint32_t other) {
                    return numbers[other] == numbers[row] && are_equal(coded_, other, row);
                });
            sums[like] += weights_.empty() ? 1.0 : weights_[row];
            if (like == row) kept.push_back(like);
        }
        if (static_cast<double>(kept.size()) > kWorthwhile * static_cast<double>(rows_)) return;
    }
    for (uint32_t row : kept) weights.push_back(sums[row]);
    const double total = total_weight_;
    *this = take(kept);
    weights_ = std::move(weights);
    total_weight_ = total;
}

}  // namespace lessnaive
