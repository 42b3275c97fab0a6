// How arrays of Python reach the kernels. Arrays are checked here, every one of them, before the
// interpreter is let go; the kernels trust what they are given. Each area of the core has a file
// bind_*.cpp that adds its functions to the module.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <vector>

#include "table/column.hpp"

namespace nb = nanobind;

namespace lessnaive {

template <class T, size_t kDimensions>
using ArrayOf = nb::ndarray<T, nb::ndim<kDimensions>, nb::c_contig, nb::device::cpu>;

// A column of a table, of any numbers and in any stride.
using Array = nb::ndarray<nb::ro, nb::ndim<1>, nb::device::cpu>;
// What is read.
using Vector = ArrayOf<const double, 1>;
using Weights = Vector;
using Matrix = ArrayOf<const double, 2>;
using Levels = ArrayOf<const double, 3>;
using Integers = ArrayOf<const int64_t, 1>;
// What is filled.
using Numbers = ArrayOf<double, 1>;
using Table = ArrayOf<double, 2>;
using Cube = ArrayOf<double, 3>;
using Codes = ArrayOf<uint32_t, 1>;

// An argument that is an array, or a sequence of arrays. What is not of the right type and order is
// refused: a converted copy would be filled and dropped.
inline auto array_arg(const char* name) { return nb::arg(name).noconvert(); }
inline auto array_or_none(const char* name) { return nb::arg(name).none().noconvert(); }

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
