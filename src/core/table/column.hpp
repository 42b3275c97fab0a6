// A column of a table as the kernels see it: a pointer, a stride and a type. Kernels work on blocks
// of rows: a block of one column is first copied into a small buffer of one type, so that each
// kernel is written once, whatever the type and the memory order of the table.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace lessnaive {

enum class DType { u8, i8, u16, i16, u32, i32, u64, i64, f32, f64 };

struct Column {
    const char* data;
    int64_t stride;  // in bytes
    DType dtype;
};

// Calls visit(T{}) with the C++ type that `dtype` stands for.
template <class Visitor>
inline void dispatch(DType dtype, Visitor&& visit) {
    switch (dtype) {
        case DType::u8:
            return visit(uint8_t{});
        case DType::i8:
            return visit(int8_t{});
        case DType::u16:
            return visit(uint16_t{});
        case DType::i16:
            return visit(int16_t{});
        case DType::u32:
            return visit(uint32_t{});
        case DType::i32:
            return visit(int32_t{});
        case DType::u64:
            return visit(uint64_t{});
        case DType::i64:
            return visit(int64_t{});
        case DType::f32:
            return visit(float{});
        case DType::f64:
            return visit(double{});
    }
}

// Numbers need not be aligned: they may be the fields of records.
template <class T>
inline T load(const char* from) {
    T out;
    std::memcpy(&out, from, sizeof out);
    return out;
}

template <class T>
inline T cell(const Column& column, int64_t row) {
    return load<T>(column.data + row * column.stride);
}

// Whether a column of integers holds 0 .. limit - 1 only.
inline bool all_below(const Column& column, int64_t rows, int64_t limit) {
    bool out = false;
    dispatch(column.dtype, [&](auto type) {
        using T = decltype(type);
        T lowest = 0, highest = 0;
        const auto look = [&](auto stride) {
            for (int64_t row = 0; row < rows; ++row) {
                const T value = load<T>(column.data + row * stride);
                lowest = std::min(lowest, value);
                highest = std::max(highest, value);
            }
        };
        // A stride that is known when compiling makes the loop wide.
        if (column.stride == static_cast<int64_t>(sizeof(T)))
            look(std::integral_constant<int64_t, sizeof(T)>{});
        else
            look(column.stride);
        out = lowest == 0 && static_cast<uint64_t>(highest) < static_cast<uint64_t>(limit);
    });
    return out;
}

// out[k] = the value in row first + k, as a double.
inline void load_numbers(const Column& column, int64_t first, int count, double* out) {
    dispatch(column.dtype, [&](auto type) {
        using T = decltype(type);
        for (int k = 0; k < count; ++k) out[k] = static_cast<double>(cell<T>(column, first + k));
    });
}

// The same, rows taken in the order first + order[k].
inline void gather_numbers(const Column& column, int64_t first, const int32_t* order, int count,
                           double* out) {
    dispatch(column.dtype, [&](auto type) {
        using T = decltype(type);
        const char* data = column.data + first * column.stride;
        const auto look = [&](auto stride) {
            for (int k = 0; k < count; ++k)
                out[k] = static_cast<double>(load<T>(data + order[k] * stride));
        };
        if (column.stride == static_cast<int64_t>(sizeof(T)))
            look(std::integral_constant<int64_t, sizeof(T)>{});
        else
            look(column.stride);
    });
}

// A coded column: table row = value + shift; a row outside of the table counts as its last row
// (never seen in training), so that no value can read or write outside of the table. Tables have
// less than 2^32 rows, shifts are 2^62 at the most.
struct CodedColumn {
    Column column;
    int64_t shift;
    int64_t table_rows;
};

// Wide enough for value + shift without overflow: 32 bits do for the small types and small tables.
template <class T, class Wide, class Visitor>
inline void visit_codes_as(const CodedColumn& coded, int64_t first, int count, Visitor&& visit) {
    const Wide last = static_cast<Wide>(coded.table_rows - 1);
    const Wide shift = static_cast<Wide>(coded.shift);
    const char* data = coded.column.data + first * coded.column.stride;
    for (int k = 0; k < count; ++k, data += coded.column.stride) {
        const Wide row = static_cast<Wide>(load<T>(data)) + shift;
        // Only the largest numbers of 64 bits can pass the end of these, and come out small.
        const bool passed = std::is_same_v<T, uint64_t> && coded.shift > 0 && row < shift;
        visit(k, static_cast<uint32_t>(row < last && !passed ? row : last));
    }
}

// Calls visit(k, table row) for the rows first + k.
template <class Visitor>
inline void visit_codes(const CodedColumn& coded, int64_t first, int count, Visitor&& visit) {
    constexpr int64_t kSmall = int64_t{1} << 30;
    const bool small = coded.table_rows < kSmall && -kSmall < coded.shift && coded.shift < kSmall;
    dispatch(coded.column.dtype, [&](auto type) {
        using T = decltype(type);
        if (sizeof(T) <= 2 && small)
            visit_codes_as<T, uint32_t>(coded, first, count, visit);
        else
            visit_codes_as<T, uint64_t>(coded, first, count, visit);
    });
}

inline void load_codes(const CodedColumn& coded, int64_t first, int count, uint32_t* out) {
    visit_codes(coded, first, count, [=](int k, uint32_t row) { out[k] = row; });
}

}  // namespace lessnaive
