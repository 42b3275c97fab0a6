// log(x!) for counts, from a table where the counts are whole numbers.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace lessnaive {

inline double log_gamma(double x) {
#if defined(_WIN32)
    return std::lgamma(x);
#else
    int sign;  // the plain function writes a global variable, which threads would share
    return lgamma_r(x, &sign);
#endif
}

class LogFactorial {
  public:
    // A table of 0 .. `longest` is made if all arguments will be whole numbers. `complete` promises
    // that none will be larger, which takes a test out of the innermost loops.
    LogFactorial(double longest, bool whole_numbers, bool complete = false) {
        if (!whole_numbers) return;
        table_.resize(static_cast<size_t>(std::min(longest, kLongestTable)) + 1, 0.0);
        double sum = 0, low = 0;  // compensated: a long table must not drift
        for (size_t k = 2; k < table_.size(); ++k) {
            const double term = std::log(static_cast<double>(k)) - low;
            const double next = sum + term;
            low = (next - sum) - term;
            sum = next;
            table_[k] = sum;
        }
        end_ = static_cast<double>(table_.size());
        complete_ = complete && longest <= kLongestTable;
    }

    double operator()(double x) const {
        if (complete_) return table_[static_cast<int64_t>(x)];
        return x < end_ ? table_[static_cast<int64_t>(x)] : log_gamma(x + 1.0);
    }

  private:
    static constexpr double kLongestTable = 1 << 26;
    std::vector<double> table_;
    double end_ = 0;  // the length of the table
    bool complete_ = false;
};

}  // namespace lessnaive
