// Records of CSV text.
#include <tuple>
#include <utility>

#include "bindings/bindings.hpp"
#include "bindings/checks.hpp"
#include "table/records.hpp"

namespace lessnaive {
namespace {

template <class T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> as_array(std::vector<T>&& values) {
    auto* kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::ndarray<nb::numpy, T, nb::ndim<1>>(kept->data(), {kept->size()}, owner);
}

auto find_records_binding(nb::bytes text, char separator, bool is_end) {
    require(separator != '\0' && separator != '"' && separator != '\n' && separator != '\r',
            "this cannot separate the cells of a record");
    const char* bytes = text.c_str();
    const int64_t size = static_cast<int64_t>(text.size());
    Records found;
    {
        nb::gil_scoped_release release;
        found = find_records(bytes, size, separator, is_end);
    }
    return std::make_tuple(as_array(std::move(found.ends)), as_array(std::move(found.lines)),
                           as_array(std::move(found.nexts)), as_array(std::move(found.cells)),
                           found.open);
}

}  // namespace

void bind_records(nb::module_& m) {
    m.def(
        "find_records", &find_records_binding, nb::arg("text"), nb::arg("separator"),
        nb::arg("is_end"),
        "Records of a piece of CSV text: their ends, the lines they begin in and the lines behind "
        "them, their numbers of cells; and whether the rest ends within quotes.");
}

}  // namespace lessnaive
