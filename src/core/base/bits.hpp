// x log2 x for counts, from a table where the counts are whole numbers.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace lessnaive {

class Bits {
  public:
    // A table of 0 .. `longest` is made if all arguments will be whole numbers.
    Bits(int64_t longest, bool whole_numbers) {
        if (!whole_numbers) return;
        table_.resize(std::min(longest, kLongestTable) + 1, 0.0);
        for (size_t k = 2; k < table_.size(); ++k) table_[k] = k * std::log2(k);
        end_ = static_cast<double>(table_.size());
    }

    double operator()(double x) const {
        if (x < end_) return table_[static_cast<int64_t>(x)];
        return x > 0 ? x * std::log2(x) : 0.0;
    }

  private:
    static constexpr int64_t kLongestTable = 1 << 26;
    std::vector<double> table_;
    double end_ = 0;  // the length of the table
};

}  // namespace lessnaive
