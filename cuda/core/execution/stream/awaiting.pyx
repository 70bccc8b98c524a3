# SPDX-License-Identifier: Apache-2.0
# `await stream` and `await event` in asyncio.

from cpython.pythread cimport PyThread_get_thread_ident


cdef object waiter_threads():
    return import_module("cuda.core.execution.stream.waiter_threads")


cdef object key_of_stream(Stream self):
    """Return a key that is equal for waits which complete in the order of their events."""
    if not is_default_stream(<CUstream>self.identity):
        return self.identity
    return self.identity, current_context_address(), PyThread_get_thread_ident()


cdef int check_not_captured(Stream self) except -1:
    if is_being_captured(self.native.borrow_open(self)):
        raise RuntimeError("await of a stream that is being captured: its work becomes a graph and "
                           "does not run; end the capture, and await the stream of the graph's "
                           "launch")
    return 0


cdef object await_stream(Stream self):
    """Return the iterator of `Stream.__await__`."""
    check_not_captured(self)
    # Without spinning: the thread that waits must leave the processor to the loop.
    event = record_new_event(self, CU_EVENT_DISABLE_TIMING | CU_EVENT_BLOCKING_SYNC)
    return await_shared_event(event, key_of_stream(self))


cdef object await_event(Event self):
    """Return the iterator of `Event.__await__`, for which closing the event has no effect."""
    return await_shared_event(share_event(self), ("event", self.identity))


cdef object await_shared_event(Event event, object key):
    if event.is_done:
        return iter(())
    return waiter_threads().wait(key, event.sync).__await__()
