# SPDX-License-Identifier: Apache-2.0
"""Threads that wait for asyncio: a loop continues while a thread blocks in the driver.

Waits with the same key complete in sequence, like the events of one stream, and share a thread.
"""

import asyncio
import os
import threading
from collections import deque
from queue import SimpleQueue

_MOST_IDLE = 4  # further threads end when they have no work


class _Wait:
    """A blocking call, and the future of the task that awaits its result.

    The thread drops the call and the outcome before the task continues: what they refer to is
    released when the task releases it, also if the thread has not run since.
    """

    __slots__ = ("_call", "_future", "_loop", "_outcome")

    def __init__(self, call):
        self._call, self._loop = call, asyncio.get_running_loop()
        self._future = self._loop.create_future()

    def __await__(self):
        return self._future.__await__()

    def run(self):
        """Block until the call returns, and pass its result or its exception to the loop."""
        call, self._call = self._call, None
        if self._future.cancelled():  # only a hint: another thread may cancel it now
            return
        try:
            self._outcome = call(), None
        except BaseException as failure:
            self._outcome = None, failure
        call = None
        self._post()

    def fail(self, error):
        """Raise an exception in the task."""
        self._call, self._outcome = None, (None, error)
        self._post()

    def _post(self):
        try:
            self._loop.call_soon_threadsafe(self._set)
        except RuntimeError:
            self._outcome = None
            if not self._loop.is_closed():  # no task of a closed loop is waiting
                raise

    def _set(self):
        (result, error), self._outcome = self._outcome, None
        future, self._future = self._future, None
        if future.done():  # the task was canceled
            return
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)


class _Threads:
    """The threads of this process, and the waits that they have not begun."""

    def __init__(self):
        self._lock = threading.Lock()
        self._pending = {}  # waits by their key; a thread works on each key
        self._keys = SimpleQueue()  # keys for idle threads
        self._idle = 0

    def add(self, key, wait):
        with self._lock:
            if key in self._pending:
                self._pending[key].append(wait)
                return
            self._pending[key] = deque([wait])
            has_thread = self._idle > 0
            self._idle -= has_thread
        if has_thread:
            self._keys.put(key)
        else:
            self._start(key)

    def _start(self, key):
        try:
            thread = threading.Thread(
                target=self._work, args=(key,), name="cuda.core waiter", daemon=True
            )
            thread.start()
        except BaseException as error:
            with self._lock:
                waits = self._pending.pop(key)
            for wait in waits:
                wait.fail(error)

    def _work(self, key):
        while True:
            while (wait := self._next(key)) is not None:
                wait.run()
                wait = None  # the result may own device memory
            with self._lock:
                if self._idle >= _MOST_IDLE:
                    return
                self._idle += 1
            key = self._keys.get()

    def _next(self, key):
        """Return the next wait of a key; None ends the work on the key."""
        with self._lock:
            if self._pending[key]:
                return self._pending[key].popleft()
            del self._pending[key]
            return None


_threads = _Threads()


def _after_fork():
    """Discard the threads of the parent, which do not exist in a child process."""
    global _threads
    _threads = _Threads()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def wait(key, call):
    """Call a blocking function on a thread. Host only.

    Parameters
    ----------
    key : hashable
        Calls of equal keys run one after the other.
    call : callable
        Function without arguments.

    Returns
    -------
    awaitable
        It completes with the result or the exception of the call, in the running loop.

    Raises
    ------
    RuntimeError
        If no asyncio loop is running.
    """
    pending = _Wait(call)
    _threads.add(key, pending)
    return pending
