# SPDX-License-Identifier: Apache-2.0
"""Repeats the calls of a log in order, on one thread and stream per logged thread and stream."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from time import perf_counter_ns

from halfwarp.progress import progress

PER_THREAD = 2  # raw value of the per-thread default stream; 0 and 1 are the legacy one


@dataclass
class Outcome:
    """The result of a replay. Sizes in bytes, times in nanoseconds."""

    allocate_ns: list = field(default_factory=list)
    free_ns: list = field(default_factory=list)
    samples: list = field(default_factory=list)  # (time in the log, in use, reserved) after a call
    failures: list = field(default_factory=list)  # (call, text of the error)
    recovered: int = 0  # allocations that failed in the log and succeed here
    in_use: int = 0  # at the end
    unfreed: int = 0  # allocations that the log does not free
    peak_in_use: int = 0
    peak_reserved: int = 0
    statistics: dict = field(default_factory=dict)

    @property
    def fragmentation(self):
        """The fraction of the peak reserved memory that exceeds the peak in use."""
        if not self.peak_reserved:
            return 0.0
        return max(0.0, 1 - self.peak_in_use / self.peak_reserved)


class Replay:
    """The state of a replay."""

    def __init__(self, under_test, device):
        self.under_test = under_test
        self.device = device
        self.outcome = Outcome()
        self.buffers = {}  # logged address -> (buffer, size, logged stream)
        self.streams = {}
        self.threads = {}

    def stream(self, logged):
        """Return the stream for a logged one: the same default stream, else a new stream."""
        if logged not in self.streams:
            from cuda.core import LEGACY_DEFAULT_STREAM, PER_THREAD_DEFAULT_STREAM

            if logged > PER_THREAD:
                self.streams[logged] = self.device.create_stream()
            else:
                is_per_thread = logged == PER_THREAD
                self.streams[logged] = (
                    PER_THREAD_DEFAULT_STREAM if is_per_thread else LEGACY_DEFAULT_STREAM
                )
        return self.streams[logged]

    def execute(self, call):
        """Execute a call on the thread for its logged thread."""
        if call.thread not in self.threads:
            start = self.device.set_current
            self.threads[call.thread] = ThreadPoolExecutor(1, initializer=start)
        action = self.free if call.action == "free" else self.allocate
        self.threads[call.thread].submit(action, call).result()
        reserved, highest = self.under_test.reserved()
        outcome = self.outcome
        outcome.peak_in_use = max(outcome.peak_in_use, outcome.in_use)
        outcome.peak_reserved = max(outcome.peak_reserved, highest)
        outcome.samples.append((call.time_ns, outcome.in_use, reserved))

    def allocate(self, call):
        from cuda.core import CUDAError

        stream = self.stream(call.stream)
        resource = self.under_test.resource
        start = perf_counter_ns()
        try:
            buffer = resource.allocate(call.size, stream=stream)
        except (CUDAError, OverflowError) as error:  # a size that cannot be rounded up
            if call.action == "allocate":
                self.outcome.failures.append((call, str(error)))
            return
        self.outcome.allocate_ns.append(perf_counter_ns() - start)
        if call.action == "fail":
            self.outcome.recovered += 1
            buffer.close()
        elif call.address == 0:  # the log has no free of this address
            buffer.close()
        else:
            self.buffers[call.address] = buffer, call.size, call.stream
            self.outcome.in_use += call.size

    def free(self, call):
        if call.address not in self.buffers:  # the allocation failed here, or is empty
            return
        buffer, size, allocation_stream = self.buffers.pop(call.address)
        stream = None if call.stream == allocation_stream else self.stream(call.stream)
        start = perf_counter_ns()
        buffer.close(stream)
        self.outcome.free_ns.append(perf_counter_ns() - start)
        self.outcome.in_use -= size

    def end(self):
        """Free everything and return the outcome."""
        self.outcome.unfreed = len(self.buffers)
        self.outcome.statistics = dict(self.under_test.statistics())
        for buffer, _, _ in self.buffers.values():
            buffer.close()
        for thread in self.threads.values():
            thread.shutdown()
        self.device.sync()
        for logged, stream in self.streams.items():
            if logged > PER_THREAD:
                stream.close()
        return self.outcome


def replay(calls, under_test, device):
    """Execute the calls and return the outcome."""
    state = Replay(under_test, device)
    try:
        with progress("calls", len(calls)) as counted:
            for call in calls:
                state.execute(call)
                counted.step()
    finally:
        outcome = state.end()
    return outcome
