// The module that Python imports.
#include "bindings.hpp"
#include "parallel.hpp"

NB_MODULE(_core, m) {
    m.doc() = "Kernels of lessnaive: the loops over the rows of a table that must be fast.";
    m.def("max_threads", &lessnaive::max_threads, "Number of threads that the kernels use.");
    lessnaive::bind_table(m);
    lessnaive::bind_encoding(m);
    lessnaive::bind_linear(m);
    lessnaive::bind_weights(m);
    lessnaive::bind_selection(m);
    lessnaive::bind_stagewise(m);
    lessnaive::bind_stream(m);
}
