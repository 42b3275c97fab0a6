// log(x!) for counts, from a table where the counts are whole numbers.
#pragma once

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
    // `largest` is the largest argument; a table is made if all arguments will be whole numbers.
    LogFactorial(double largest, bool whole_numbers) {
        if (!whole_numbers || largest > kLongestTable) return;
        table_.resize(static_cast<size_t>(largest) + 2, 0.0);
        double sum = 0, low = 0;  // compensated: a long table must not drift
        for (size_t k = 2; k < table_.size(); ++k) {
            const double term = std::log(static_cast<double>(k)) - low;
            const double next = sum + term;
            low = (next - sum) - term;
            sum = next;
            table_[k] = sum;
        }
    }

    double operator()(double x) const {
        return table_.empty() ? log_gamma(x + 1.0) : table_[static_cast<size_t>(x)];
    }

  private:
    static constexpr double kLongestTable = 1 << 26;
    std::vector<double> table_;
};

}  // namespace lessnaive
