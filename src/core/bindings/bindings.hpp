// How arrays of Python reach the kernels. Arrays are checked here; the kernels trust what they are
// given. Each area of the core has a file bind_*.cpp that adds its functions to the module.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <stdexcept>
#include <vector>

#include "table/column.hpp"
#include "table/segments.hpp"

namespace nb = nanobind;

namespace lessnaive {

using Array = nb::ndarray<nb::ro, nb::ndim<1>, nb::device::cpu>;
using Weights = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Vector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Table = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Codes = nb::ndarray<uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Cube = nb::ndarray<double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

inline void require(bool condition, const char* message) {
    if (!condition) throw std::invalid_argument(message);
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
    require(static_cast<int64_t>(array.shape(0)) == rows, "columns differ in length");
    return {static_cast<const char*>(array.data()),
            array.stride(0) * static_cast<int64_t>(array.itemsize()), dtype_of(array)};
}

inline Column codes_of(const Array& array, int64_t rows) {
    const Column column = column_of(array, rows);
    require(column.dtype != DType::f32 && column.dtype != DType::f64, "codes must be integers");
    return column;
}

inline const double* weights_of(const std::optional<Weights>& weights, int64_t rows) {
    if (!weights) return nullptr;
    require(static_cast<int64_t>(weights->shape(0)) == rows, "weights differ in length");
    return weights->data();
}

// Numbers, and the edges, offsets, slopes and missing scores of a piecewise-linear curve.
using PiecewiseTuple = std::tuple<Array, Vector, Matrix, Matrix, Vector>;

inline Piecewise piecewise_of(const PiecewiseTuple& curve, int64_t rows, size_t classes) {
    const auto& [numbers, edges, offset, slope, missing] = curve;
    const size_t segments = edges.shape(0) + 1;
    require(offset.shape(0) == segments && offset.shape(1) == classes &&
                slope.shape(0) == segments && slope.shape(1) == classes &&
                missing.shape(0) == classes,
            "a curve has the wrong shape");
    return {column_of(numbers, rows),
            edges.data(),
            static_cast<int64_t>(edges.shape(0)),
            offset.data(),
            slope.data(),
            missing.data()};
}

void bind_additive(nb::module_& m);
void bind_table(nb::module_& m);
void bind_boosting(nb::module_& m);
void bind_encoding(nb::module_& m);
void bind_fractional(nb::module_& m);
void bind_linear(nb::module_& m);
void bind_weights(nb::module_& m);
void bind_selection(nb::module_& m);
void bind_records(nb::module_& m);
void bind_stagewise(nb::module_& m);
void bind_state(nb::module_& m);
void bind_stream(nb::module_& m);

}  // namespace lessnaive
