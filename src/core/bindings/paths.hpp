// What Python sees of minima along a path of penalties.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>

#include "bindings/bindings.hpp"
#include "bindings/checks.hpp"
#include "bindings/in_use.hpp"
#include "bindings/overlap.hpp"
#include "bindings/released.hpp"
#include "weights/newton_path.hpp"

namespace lessnaive {

template <class Path>
std::tuple<int, bool> minimize_along(Path& path, double l1, double l2, double tolerance,
                                     int max_passes, Table out, const Path* leader, double share) {
    require(has_shape(out, {path.outputs(), path.size() / path.outputs()}),
            "out has the wrong shape");
    require(l1 >= 0 && l2 >= 0 && std::isfinite(l1) && std::isfinite(l2),
            "penalties must be finite and not negative");
    require_stopping(tolerance, max_passes);
    require(!leader || (leader->size() == path.size() && leader->outputs() == path.outputs()),
            "the leader has weights of another shape");
    require(share > 0 && std::isfinite(share), "share must be finite and positive");
    Memory().fill(out).require_apart();
    const InUse held(&path, InUse::How::change);
    std::optional<InUse> followed;
    if (leader) followed.emplace(leader, InUse::How::read);
    const Released release;
    const NewtonPath::Found found = path.minimize(l1, l2, tolerance, max_passes, {leader, share});
    std::copy(found.weights.begin(), found.weights.end(), out.data());
    return {found.passes, found.finished};
}

template <class Path>
void bind_path(nb::class_<Path>& path) {
    path.def_prop_ro("crowded", &Path::crowded,
                     "Whether more weights are at work than a matrix has room for.")
        .def("minimize", &minimize_along<Path>, nb::arg("l1"), nb::arg("l2"), nb::arg("tolerance"),
             nb::arg("max_passes"), array_arg("out"), nb::arg("leader").none() = nb::none(),
             nb::arg("share") = 1.0,
             "Fill out with the weights at this penalty, to which those at the last one lead. "
             "The leader is the path of all rows, of whose weight the rows of this one have a "
             "share: its curvature may be taken over. "
             "Returns how often the rows were looked at, and whether that was enough.");
}

}  // namespace lessnaive
