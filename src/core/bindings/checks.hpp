// What is asked of the arguments of the kernels. Each check is of constant time, or one pass over
// an array that the kernel is about to read anyway.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>

#include "bindings/bindings.hpp"

namespace lessnaive {

// More classes than any table has: tables of one number for each of them still fit into memory.
constexpr int64_t kMostClasses = 1 << 20;
// Rows of a table are found by 32-bit codes.
constexpr int64_t kMostTableRows = (int64_t{1} << 32) - 1;
// Codes of 64 bits plus such a shift do not overflow.
constexpr int64_t kLargestShift = int64_t{1} << 62;

inline void require(bool condition, const char* message) {
    if (!condition) throw std::invalid_argument(message);
}

template <class Each>
int64_t length(const Each& array, size_t dimension = 0) {
    return static_cast<int64_t>(array.shape(dimension));
}

template <class Each>
bool has_shape(const Each& array, std::initializer_list<int64_t> shape) {
    size_t dimension = 0;
    for (int64_t size : shape)
        if (length(array, dimension++) != size) return false;
    return true;
}

inline int classes_of(int64_t classes) {
    require(classes > 0, "there are no classes");
    require(classes <= kMostClasses, "there are too many classes");
    return static_cast<int>(classes);
}

inline DType dtype_of(const Array& array) {
    const nb::dlpack::dtype type = array.dtype();
    if (type == nb::dtype<uint8_t>()) return DType::u8;
    if (type == nb::dtype<int8_t>()) return DType::i8;
    if (type == nb::dtype<uint16_t>()) return DType::u16;
    if (type == nb::dtype<int16_t>()) return DType::i16;
    if (type == nb::dtype<uint32_t>()) return DType::u32;
    if (type == nb::dtype<int32_t>()) return DType::i32;
    if (type == nb::dtype<uint64_t>()) return DType::u64;
    if (type == nb::dtype<int64_t>()) return DType::i64;
    if (type == nb::dtype<float>()) return DType::f32;
    if (type == nb::dtype<double>()) return DType::f64;
    throw std::invalid_argument("a column must be of integers or of 32- or 64-bit floats");
}

inline Column column_of(const Array& array, int64_t rows) {
    require(length(array) == rows, "columns differ in length");
    return {static_cast<const char*>(array.data()),
            array.stride(0) * static_cast<int64_t>(array.itemsize()), dtype_of(array)};
}

inline std::vector<Column> columns_of(const std::vector<Array>& arrays, int64_t rows) {
    std::vector<Column> out;
    for (const Array& array : arrays) out.push_back(column_of(array, rows));
    return out;
}

inline Column integers_of(const Array& array, int64_t rows) {
    const Column column = column_of(array, rows);
    require(column.dtype != DType::f32 && column.dtype != DType::f64, "codes must be integers");
    return column;
}

// Codes of the rows of a table. Any code is allowed: see CodedColumn.
inline CodedColumn codes_of(const Array& array, int64_t rows, int64_t shift, int64_t table_rows) {
    require(table_rows > 0 && table_rows <= kMostTableRows, "a table has the wrong shape");
    require(-kLargestShift <= shift && shift <= kLargestShift, "a shift is too large");
    return {integers_of(array, rows), shift, table_rows};
}

inline Column labels_of(const Array& array, int64_t rows, int64_t classes) {
    const Column column = integers_of(array, rows);
    require(all_below(column, rows, classes), "a label is no class");
    return column;
}

// Values are looked at only where they are aligned.
inline void require_aligned(const double* values) {
    require(reinterpret_cast<uintptr_t>(values) % sizeof(double) == 0, "an array is not aligned");
}

// Finite and not negative.
inline bool are_weights(const double* values, int64_t size) {
    require_aligned(values);
    // One test for the block, so that the loop has no branches; NaN fails both comparisons.
    constexpr int64_t kBlock = 1024;
    for (int64_t first = 0; first < size; first += kBlock) {
        const int64_t end = std::min(size, first + kBlock);
        int good = 1;
        for (int64_t i = first; i < end; ++i)
            good &= static_cast<int>(values[i] >= 0) & static_cast<int>(values[i] <= 1.7e308);
        if (!good) return false;
    }
    return true;
}

inline const double* weights_of(const std::optional<Weights>& weights, int64_t rows) {
    if (!weights) return nullptr;
    require(length(*weights) == rows, "weights differ in length");
    require(are_weights(weights->data(), rows), "weights must be finite and not negative");
    return weights->data();
}

// Edges between bins: NaN has no place among them.
inline bool are_ascending(const Vector& edges) {
    require_aligned(edges.data());
    for (int64_t i = 0; i < length(edges); ++i) {
        const double edge = edges.data()[i];
        if (std::isnan(edge) || (i > 0 && edge < edges.data()[i - 1])) return false;
    }
    return true;
}

// For each i: lower <= upper; neither is NaN.
inline bool are_bounds(const Vector& lower, const Vector& upper) {
    require_aligned(lower.data());
    require_aligned(upper.data());
    for (int64_t i = 0; i < length(lower); ++i)
        if (!(lower.data()[i] <= upper.data()[i])) return false;
    return true;
}

// When an iterative solver stops.
inline void require_stopping(double tolerance, int most_rounds) {
    require(tolerance >= 0, "the tolerance must not be negative");
    require(most_rounds >= 0, "the number of rounds must not be negative");
}

}  // namespace lessnaive
