// Work without the interpreter that signals can stop.
#pragma once

#include "base/interrupt.hpp"
#include "bindings/bindings.hpp"

namespace lessnaive {

// Whether a signal's handler has thrown, as that of Ctrl-C does. The error waits in this thread
// until the binding returns, where Stopped becomes that error. Handlers run in the main thread; the
// others are told by a sign.
inline bool signal_has_thrown() {
    if (StopSign::is_up()) return true;
    nb::gil_scoped_acquire held;
    return PyErr_CheckSignals() != 0;
}

// Lets the interpreter go, for work that changes nothing that outlives it: what is half done when a
// signal comes is dropped.
class Released {
  public:
    Released() : work_(&signal_has_thrown), part_({&work_, true}) {
        if (StopSign::is_up()) throw Stopped();
    }

  private:
    nb::gil_scoped_release release_;
    Work work_;
    TakesPart part_;
};

inline void translate_stopped(const std::exception_ptr& thrown, void*) {
    try {
        std::rethrow_exception(thrown);
    } catch (const Stopped&) {
        if (!PyErr_Occurred()) PyErr_SetNone(PyExc_KeyboardInterrupt);
    }
}

}  // namespace lessnaive
