// Where the arrays of a call lie: those that are filled must not share memory with each other or
// with what is read meanwhile.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "bindings/checks.hpp"

namespace lessnaive {

class Memory {
  public:
    template <class Each>
    Memory& fill(const Each& arrays) {
        return note(arrays, true);
    }
    template <class Each>
    Memory& read(const Each& arrays) {
        return note(arrays, false);
    }

    // One pass over the arrays in the order of their memory.
    void require_apart() {
        std::sort(spans_.begin(), spans_.end(),
                  [](const Span& a, const Span& b) { return a.begin < b.begin; });
        uintptr_t filled = 0, used = 0;  // the ends of what is filled, and of all, so far
        for (const Span& span : spans_) {
            require(span.begin >= (span.is_filled ? used : filled),
                    "an array that is filled shares memory with another one");
            used = std::max(used, span.end);
            if (span.is_filled) filled = std::max(filled, span.end);
        }
    }

  private:
    struct Span {
        uintptr_t begin, end;
        bool is_filled;
    };

    template <class... Of>
    Memory& note(const nb::ndarray<Of...>& array, bool is_filled) {
        if (array.size() == 0) return *this;
        const int64_t item = static_cast<int64_t>(array.itemsize());
        const uintptr_t at = reinterpret_cast<uintptr_t>(array.data());
        int64_t below = 0, above = item;
        for (size_t d = 0; d < array.ndim(); ++d) {
            const int64_t reach = array.stride(d) * item * (length(array, d) - 1);
            (reach < 0 ? below : above) += reach;
        }
        // Columns are read byte by byte, all other arrays as numbers of their type.
        const bool is_column = std::is_same_v<nb::ndarray<Of...>, Array>;
        require(is_column || at % static_cast<uintptr_t>(item) == 0, "an array is not aligned");
        spans_.push_back(
            {at + static_cast<uintptr_t>(below), at + static_cast<uintptr_t>(above), is_filled});
        return *this;
    }
    template <class Each>
    Memory& note(const std::optional<Each>& array, bool is_filled) {
        return array ? note(*array, is_filled) : *this;
    }
    template <class Each>
    Memory& note(const std::vector<Each>& arrays, bool is_filled) {
        for (const Each& array : arrays) note(array, is_filled);
        return *this;
    }

    std::vector<Span> spans_;
};

}  // namespace lessnaive
