// Chosen coefficients of a linear model, output by output.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "linear/linear_rows.hpp"

namespace lessnaive {

// The chosen coefficients of one output.
struct Chosen {
    std::vector<int64_t> places;  // of coefficients
    int64_t first;                // place of the first of them among all chosen ones
    bool intercept = false;
    std::vector<int64_t> numbers;  // columns
    std::vector<int32_t> slots;    // of each coefficient, among those of this output; -1: none
    std::vector<size_t> coded;     // columns with a chosen coefficient

    int64_t dense() const { return intercept + static_cast<int64_t>(numbers.size()); }
};

inline std::vector<Chosen> by_output(const LinearRows& rows, int64_t numbers,
                                     const std::vector<LinearRows::Codes>& coded,
                                     const std::vector<int64_t>& chosen) {
    const int64_t p = rows.coefficients();
    std::vector<Chosen> out(rows.outputs());
    size_t next = 0;
    for (int o = 0; o < rows.outputs(); ++o) {
        Chosen& own = out[o];
        own.first = static_cast<int64_t>(next);
        own.slots.assign(p, -1);
        for (; next < chosen.size() && chosen[next] < (o + 1) * p; ++next) {
            const int64_t place = chosen[next] - o * p;
            own.slots[place] = static_cast<int32_t>(own.places.size());
            own.places.push_back(place);
            if (place == 0)
                own.intercept = true;
            else if (place <= numbers)
                own.numbers.push_back(place - 1);
        }
        for (size_t m = 0; m < coded.size(); ++m) {
            const auto from = own.slots.begin() + coded[m].first;
            if (std::any_of(from, from + coded[m].count, [](int32_t slot) { return slot >= 0; }))
                own.coded.push_back(m);
        }
    }
    return out;
}

}  // namespace lessnaive
