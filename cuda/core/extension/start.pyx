# SPDX-License-Identifier: Apache-2.0
# Initialization of the extension at import, and its fork and exit handlers.

from cpython.pycapsule cimport PyCapsule_GetPointer

import atexit

from cuda.bindings import _low


cdef extern from "python/host_call.hpp" namespace "halfwarp::python":
    void drop_finished_calls() noexcept


cdef extern from "interpreter/exit_gate.hpp" namespace "halfwarp::interpreter":
    cppclass exit_gate:
        uint64_t (*enter_or_wait)() except 0
        void (*leave)(uint64_t) noexcept nogil
        bint (*close)()
        void (*expect_callbacks)() noexcept
    const exit_gate* gate
    const char* EXIT_GATE_CAPSULE "halfwarp::interpreter::exit_gate::capsule"


cdef extern from "core/module/kernel_names.hpp" namespace "halfwarp::core":
    void reset_kernel_names_after_fork() noexcept


cdef extern from "python/lock/gil_in_cython.hpp":
    pass


cdef extern from "python/lock/gil.hpp" namespace "halfwarp::python":
    void install_gil_hooks() noexcept


install_gil_hooks()
attach_driver(<const loader_api*>PyCapsule_GetPointer(_low._api, HALFWARP_LOADER_CAPSULE))
gate = <const exit_gate*>PyCapsule_GetPointer(_low._exit_gate, EXIT_GATE_CAPSULE)


cdef uint64_t enter_gate() except 0:
    return gate.enter_or_wait()


cdef void leave_gate(uint64_t number) noexcept nogil:
    gate.leave(number)


def _after_fork():
    """Abandon the parent's objects in a forked child process; the parent destroys them."""
    after_fork_in_child()
    stop_reading_the_log()
    reset_kernel_names_after_fork()


def _before_exit():
    """Wait for calls in flight and drop references before interpreter finalization."""
    leak_report = sys.modules.get("cuda.core.memory.leak_report")
    if leak_report is not None:
        leak_report.print_at_exit()
    set_exiting(True)
    stop_reading_the_log()
    set_stuck(not gate.close())
    drop_finished_calls()


def _unload_unused():
    """Unload unused libraries, so that the emulator's leak reports do not list them."""
    unload_unused_libraries()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
atexit.register(_before_exit)
