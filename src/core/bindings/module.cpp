// The module that Python imports.
#include <cstdlib>  // which tells whose library this is
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "base/parallel.hpp"
#include "bindings/bindings.hpp"
#include "bindings/checks.hpp"
#include "bindings/released.hpp"

namespace {

// What was freed goes back to the system where the library would keep it for later: between other
// things, where the next large array may not fit.
void trim() {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

}  // namespace

// So many can be started everywhere.
constexpr int kMostThreads = 1024;

NB_MODULE(_core, m) {
    nb::register_exception_translator(&lessnaive::translate_stopped);
    m.doc() = "Kernels of lessnaive: the loops over the rows of a table that must be fast.";
    m.def("max_threads", &lessnaive::max_threads, "Number of threads that the kernels use.");
    m.def(
        "set_threads",
        [](int count) {
            lessnaive::require(0 < count && count <= kMostThreads,
                               "the number of threads is out of range");
            return lessnaive::set_threads(count);
        },
        nb::arg("count"),
        "Let the kernels that the calling thread starts use so many threads; returns how many they "
        "used before.");
    m.def("trim", &trim,
          "Give memory that was freed back to the system, where it has to be asked.");
    nb::class_<lessnaive::StopSign>(m, "StopSign", "Stops kernels that other threads have started.")
        .def(nb::init<>())
        .def("put_up", &lessnaive::StopSign::put_up,
             "Stop the kernels of all threads that heed the sign, with KeyboardInterrupt.")
        .def("heed", &lessnaive::StopSign::heed, "Let the calling thread heed the sign.")
        .def("leave", &lessnaive::StopSign::leave,
             "Let the calling thread heed the sign no more, if it is the last that it heeded.");
    lessnaive::bind_additive(m);
    lessnaive::bind_table(m);
    lessnaive::bind_boosting(m);
    lessnaive::bind_encoding(m);
    lessnaive::bind_fractional(m);
    lessnaive::bind_linear(m);
    lessnaive::bind_weights(m);
    lessnaive::bind_selection(m);
    lessnaive::bind_stagewise(m);
    lessnaive::bind_state(m);
    lessnaive::bind_records(m);
    lessnaive::bind_stream(m);
}
