# SPDX-License-Identifier: Apache-2.0
"""Random operations on a pool, over threads and streams, against a model of what is in use.

    python model.py SEED OPERATIONS THREADS [UPSTREAM [MIB]]

Each block gets a pattern when it comes, on its stream, and is copied to the host before it goes:
another pattern in it means that it was handed out too early. The model knows which addresses are in
use, so that no two blocks share any. With "careless" the pool is one that regards no stream: the
program must fail.
"""

import random
import sys
import threading
from bisect import bisect

from cuda.core import (
    LEGACY_DEFAULT_STREAM,
    PER_THREAD_DEFAULT_STREAM,
    Buffer,
    Device,
    LegacyPinnedMemoryResource,
    MemoryResource,
    OutOfMemoryError,
    PoolMemoryResource,
    VirtualMemoryResource,
)

KIB, MIB = 1 << 10, 1 << 20
SAMPLE = 64  # bytes of a block that are looked at: its beginning and its end


class Model:
    """The ranges in use, in the order of their addresses."""

    def __init__(self):
        self.lock = threading.Lock()
        self.starts, self.ends = [], {}
        self.bytes = self.allocations = self.total = 0

    def add(self, address, size):
        assert address % 512 == 0, hex(address)
        with self.lock:
            at = bisect(self.starts, address)
            assert at == 0 or self.ends[self.starts[at - 1]] <= address, "two blocks overlap"
            assert at == len(self.starts) or address + size <= self.starts[at], "blocks overlap"
            self.starts.insert(at, address)
            self.ends[address] = address + size
            self.bytes += size
            self.total += size
            self.allocations += 1

    def remove(self, address):
        with self.lock:
            del self.starts[bisect(self.starts, address) - 1]
            self.bytes -= self.ends.pop(address) - address


class Careless(MemoryResource):
    """Hands out what was freed last, whatever stream may still use it."""

    is_device_accessible, is_host_accessible, device_id = True, False, 0

    def __init__(self, device):
        self.whole = device.memory_resource.allocate(512 * MIB, stream=device.default_stream)
        self.free = [self.whole.handle + at * 4 * MIB for at in range(128)]

    def allocate(self, size, *, stream):
        return Buffer.from_handle(self.free.pop(), size, mr=self, stream=stream)

    def deallocate(self, ptr, size, *, stream):
        self.free.append(int(ptr))


class Worker:
    """One thread: its streams, its blocks and what their copies must show."""

    def __init__(self, device, pool, model, seed, operations):
        self.device, self.pool, self.model = device, pool, model
        self.chance, self.operations = random.Random(seed), operations
        self.held, self.expected, self.failures = [], [], 0

    def run(self):
        self.device.set_current()
        own = [self.device.create_stream() for _ in range(2)]
        self.streams = [*own, LEGACY_DEFAULT_STREAM, PER_THREAD_DEFAULT_STREAM]
        self.sink = LegacyPinnedMemoryResource().allocate(256 * SAMPLE)
        acts = [self.take] * 12 + [self.give] * 11 + [self.redirect, self.renew, self.check]
        for _ in range(self.operations):
            self.chance.choice(acts)()
        while self.held:
            self.give()
        self.check()
        self.sink.close()
        for stream in self.streams[:2]:
            stream.close()

    def size(self):
        kind = self.chance.random()
        if kind < 0.6:
            return self.chance.randint(1, 8 * KIB)
        return self.chance.randint(1, 64 * KIB if kind < 0.9 else 2 * MIB)

    def take(self):
        if len(self.held) == 40:
            return self.give()
        stream, size = self.chance.choice(self.streams), self.size()
        try:
            buffer = self.pool.allocate(size, stream=stream)
        except OutOfMemoryError:
            self.failures += 1
            return None
        self.model.add(buffer.handle, size)
        pattern = self.chance.randrange(256)
        buffer.fill(pattern, stream=stream)
        self.held.append((buffer, stream, pattern))
        return None

    def give(self):
        if not self.held:
            return
        buffer, stream, pattern = self.held.pop(self.chance.randrange(len(self.held)))
        if len(self.expected) == 256:
            self.check()
        part = min(SAMPLE, buffer.size)
        start = self.chance.choice([0, buffer.size - part])
        at = len(self.expected) * SAMPLE
        with buffer.resize_view(start, part) as seen, self.sink.resize_view(at, part) as into:
            seen.copy_to(into, stream=stream)
        self.expected.append((pattern, part))
        self.model.remove(buffer.handle)
        buffer.close()

    def redirect(self):
        """Free a block on another stream, which waits for the one that used it."""
        if self.held:
            buffer, stream, pattern = self.held.pop()
            other = self.chance.choice(self.streams)
            if other is not stream:
                other.wait(stream)
                buffer.set_deallocation_stream(other)
            self.held.append((buffer, other, pattern))

    def renew(self):
        """Destroy a stream whose memory may still be in use."""
        at = self.chance.randrange(2)
        old, self.streams[at] = self.streams[at], self.device.create_stream()
        for i, (buffer, stream, pattern) in enumerate(self.held):
            if stream is old:
                self.streams[at].wait(old)
                buffer.set_deallocation_stream(self.streams[at])
                self.held[i] = buffer, self.streams[at], pattern
        self.streams[at].wait(old)
        old.close()

    def check(self):
        """What the copies brought; blocks the host."""
        for stream in self.streams:
            stream.sync()
        view = memoryview(self.sink).cast("B")
        for i, (pattern, part) in enumerate(self.expected):
            seen = bytes(view[i * SAMPLE : i * SAMPLE + part])
            assert seen == bytes([pattern]) * part, f"used too early: {seen} is not {pattern}"
        view.release()
        self.expected.clear()


def main(seed, operations, threads, upstream="driver", most=24):
    device = Device(0)
    device.set_current()
    if upstream == "careless":
        return run(device, Careless(device), threads, operations, seed, most)
    below = {"driver": lambda: None, "virtual": lambda: VirtualMemoryResource(device)}[upstream]()
    pool = PoolMemoryResource(device, max_size=most * MIB, upstream=below)
    return run(device, pool, threads, operations, seed, most)


def run(device, pool, threads, operations, seed, most):
    model = Model()
    workers = [Worker(device, pool, model, seed + i, operations // threads) for i in range(threads)]
    errors = []

    def guarded(worker):
        try:
            worker.run()
        except BaseException as error:
            errors.append(error)
            raise

    started = [threading.Thread(target=guarded, args=(worker,)) for worker in workers]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()
    assert not errors, errors
    seen = pool.statistics()
    assert model.bytes == 0
    assert seen["allocated_bytes.current"] == seen["allocation_count.current"] == 0
    assert seen["allocation_count.total"] == model.allocations
    assert seen["allocated_bytes.total"] == model.total
    assert seen["reserved_bytes.peak"] <= most * MIB
    device.sync()
    held = seen["reserved_bytes.current"]
    assert pool.trim() == held, (held, pool.statistics())
    seen |= {"failures": sum(worker.failures for worker in workers)}
    print(seen)


if __name__ == "__main__":
    sys.setswitchinterval(1e-5)
    main(
        int(sys.argv[1]),
        int(sys.argv[2]),
        int(sys.argv[3]),
        *sys.argv[4:5],
        *map(int, sys.argv[5:]),
    )
