# SPDX-License-Identifier: Apache-2.0
"""Calls on threads of their own, and what a Python without the interpreter lock does otherwise."""

import ctypes
import sys
import sysconfig
import threading
import time
from concurrent.futures import ThreadPoolExecutor

has_lock = not sysconfig.get_config_var("Py_GIL_DISABLED")
# CPython 3.13 without the lock never frees a class once a second thread was started.
keeps_classes = not has_lock and sys.version_info < (3, 14)


def run_together(*calls):
    """Make each call on a new thread, all at once; give what they return, in order.

    What a call raises is raised here, after all have ended.
    """
    barrier = threading.Barrier(len(calls))

    def begin(call):
        barrier.wait()
        return call()

    with ThreadPoolExecutor(len(calls)) as threads:
        answers = [threads.submit(begin, call) for call in calls]
    for call, answer in zip(calls, answers, strict=True):
        if error := answer.exception():
            error.add_note(f"raised by {call}")
    return [answer.result() for answer in answers]


def comes_true(condition, seconds=30):
    """Whether a condition holds within some seconds: a thread of the driver may be late."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.001)  # the interpreter makes its pending calls meanwhile
    return True


def known_threads():
    """How many threads the interpreter knows, those of others among them."""
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
