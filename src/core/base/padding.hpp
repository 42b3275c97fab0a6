// Rows of one number per class are padded, so that inner loops have a length known when compiling.
#pragma once

#include <initializer_list>
#include <type_traits>

namespace lessnaive {

inline int padded_classes(int classes) {
    for (int size : {1, 2, 4, 8, 16})
        if (classes <= size) return size;
    return (classes + 7) / 8 * 8;
}

// Calls visit(std::integral_constant<int, N>) with the padded width, or with 0 where it is only
// known when running.
template <class Visitor>
inline void with_padding(int pad, Visitor&& visit) {
    switch (pad) {
        case 1:
            return visit(std::integral_constant<int, 1>{});
        case 2:
            return visit(std::integral_constant<int, 2>{});
        case 4:
            return visit(std::integral_constant<int, 4>{});
        case 8:
            return visit(std::integral_constant<int, 8>{});
        case 16:
            return visit(std::integral_constant<int, 16>{});
        default:
            return visit(std::integral_constant<int, 0>{});
    }
}

}  // namespace lessnaive
