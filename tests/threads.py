# SPDX-License-Identifier: Apache-2.0
"""Calls on new threads, and behavior that differs on a free-threaded build."""

import ctypes
import gc
import sys
import sysconfig
import threading
import time
from concurrent.futures import ThreadPoolExecutor

has_lock = not sysconfig.get_config_var("Py_GIL_DISABLED")
# Free-threaded CPython 3.13 never frees a class once a second thread has started.
keeps_classes = not has_lock and sys.version_info < (3, 14)


def run_together(*calls):
    """Run all calls concurrently, each on a new thread, and return their results in order.

    An exception of a call is raised here after all calls have ended.
    """
    barrier = threading.Barrier(len(calls))

    def begin(call):
        barrier.wait()
        return call()

    with ThreadPoolExecutor(len(calls)) as threads:
        answers = [threads.submit(begin, call) for call in calls]
    for call, result in zip(calls, answers, strict=True):
        if error := result.exception():
            error.add_note(f"raised by {call}")
    return [result.result() for result in answers]


def comes_true(condition, seconds=30):
    """Return whether a condition becomes true within some seconds; driver threads may be late."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.001)  # the interpreter runs its pending calls here
    return True


def all_collected(references):
    """Return whether garbage collections destroy the objects of weak references in time."""

    def is_done():
        if any(reference() is not None for reference in references):
            gc.collect()
        return not any(reference() is not None for reference in references)

    return comes_true(is_done)


def known_threads():
    """Return the number of threads that the interpreter knows, including foreign threads."""
    api = ctypes.pythonapi
    for function in (
        api.PyInterpreterState_Get,
        api.PyInterpreterState_ThreadHead,
        api.PyThreadState_Next,
    ):
        function.restype = ctypes.c_void_p
    state = api.PyInterpreterState_ThreadHead(ctypes.c_void_p(api.PyInterpreterState_Get()))
    count = 0
    while state:
        count += 1
        state = api.PyThreadState_Next(ctypes.c_void_p(state))
    return count
