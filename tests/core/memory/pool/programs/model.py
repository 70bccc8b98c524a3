# SPDX-License-Identifier: Apache-2.0
"""Random operations on a pool, over threads and streams, against a model of the memory in use.

    python model.py SEED OPERATIONS THREADS [UPSTREAM [MIB]]

Each block is filled with a pattern on its stream, and copied to the host before it is freed:
another pattern means that the pool reused the block too early. The model knows the addresses in
use, so that it detects overlapping blocks. With "careless", the pool ignores streams, and the
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
SAMPLE = 64  # bytes of a block that are checked, at its start or end


class Model:
    """The ranges in use, ordered by address."""

    def __init__(self):
        self.lock = threading.Lock()
        self.starts, self.ends = [], {}
        self.bytes = self.allocations = self.total = 0

    def add(self, address, size):
        assert address % 512 == 0, hex(address)
        with self.lock:
            position = bisect(self.starts, address)
            assert position == 0 or self.ends[self.starts[position - 1]] <= address, (
                "two blocks overlap"
            )
            assert position == len(self.starts) or address + size <= self.starts[position], (
                "blocks overlap"
            )
            self.starts.insert(position, address)
            self.ends[address] = address + size
            self.bytes += size
            self.total += size
            self.allocations += 1

    def remove(self, address):
        with self.lock:
            del self.starts[bisect(self.starts, address) - 1]
            self.bytes -= self.ends.pop(address) - address


class Careless(MemoryResource):
    """Reuses the block freed last, even if a stream still uses it."""

    is_device_accessible, is_host_accessible, device_id = True, False, 0

    def __init__(self, device):
        self.segment = device.memory_resource.allocate(512 * MIB, stream=device.default_stream)
        self.free = [self.segment.handle + index * 4 * MIB for index in range(128)]

    def allocate(self, size, *, stream):
        return Buffer.from_handle(self.free.pop(), size, mr=self, stream=stream)

    def deallocate(self, ptr, size, *, stream):
        self.free.append(int(ptr))


class Worker:
    """A thread with its streams, its blocks, and the expected contents of their copies."""

    def __init__(self, device, pool, model, seed, operations):
        self.device, self.pool, self.model = device, pool, model
        self.chance, self.operations = random.Random(seed), operations
        self.blocks, self.expected, self.failures = [], [], 0

    def run(self):
        self.device.set_current()
        own = [self.device.create_stream() for _ in range(2)]
        self.streams = [*own, LEGACY_DEFAULT_STREAM, PER_THREAD_DEFAULT_STREAM]
        self.sink = LegacyPinnedMemoryResource().allocate(256 * SAMPLE)
        acts = (
            [self.allocate] * 12
            + [self.free] * 11
            + [self.free_elsewhere, self.replace_stream, self.check]
        )
        for _ in range(self.operations):
            self.chance.choice(acts)()
        while self.blocks:
            self.free()
        self.check()
        self.sink.close()
        for stream in self.streams[:2]:
            stream.close()

    def size(self):
        kind = self.chance.random()
        if kind < 0.6:
            return self.chance.randint(1, 8 * KIB)
        return self.chance.randint(1, 64 * KIB if kind < 0.9 else 2 * MIB)

    def allocate(self):
        if len(self.blocks) == 40:
            return self.free()
        stream, size = self.chance.choice(self.streams), self.size()
        try:
            buffer = self.pool.allocate(size, stream=stream)
        except OutOfMemoryError:
            self.failures += 1
            return None
        self.model.add(buffer.handle, size)
        pattern = self.chance.randrange(256)
        buffer.fill(pattern, stream=stream)
        self.blocks.append((buffer, stream, pattern))
        return None

    def free(self):
        if not self.blocks:
            return
        buffer, stream, pattern = self.blocks.pop(self.chance.randrange(len(self.blocks)))
        if len(self.expected) == 256:
            self.check()
        part = min(SAMPLE, buffer.size)
        start = self.chance.choice([0, buffer.size - part])
        offset = len(self.expected) * SAMPLE
        with (
            buffer.resize_view(start, part) as sample,
            self.sink.resize_view(offset, part) as target,
        ):
            sample.copy_to(target, stream=stream)
        self.expected.append((pattern, part))
        self.model.remove(buffer.handle)
        buffer.close()

    def free_elsewhere(self):
        """Free a block on another stream, which waits for the stream that used it."""
        if self.blocks:
            buffer, stream, pattern = self.blocks.pop()
            other = self.chance.choice(self.streams)
            if other is not stream:
                other.wait(stream)
                buffer.set_deallocation_stream(other)
            self.blocks.append((buffer, other, pattern))

    def replace_stream(self):
        """Destroy a stream whose memory may still be in use."""
        index = self.chance.randrange(2)
        old, self.streams[index] = self.streams[index], self.device.create_stream()
        for i, (buffer, stream, pattern) in enumerate(self.blocks):
            if stream is old:
                self.streams[index].wait(old)
                buffer.set_deallocation_stream(self.streams[index])
                self.blocks[i] = buffer, self.streams[index], pattern
        self.streams[index].wait(old)
        old.close()

    def check(self):
        """Compare the copies with their patterns; blocks the host."""
        for stream in self.streams:
            stream.sync()
        view = memoryview(self.sink).cast("B")
        for i, (pattern, part) in enumerate(self.expected):
            sample = bytes(view[i * SAMPLE : i * SAMPLE + part])
            assert sample == bytes([pattern]) * part, f"used too early: {sample} is not {pattern}"
        view.release()
        self.expected.clear()


def main(seed, operations, threads, upstream="driver", limit=24):
    device = Device(0)
    device.set_current()
    if upstream == "careless":
        return run(device, Careless(device), threads, operations, seed, limit)
    upstream_resource = {"driver": lambda: None, "virtual": lambda: VirtualMemoryResource(device)}[
        upstream
    ]()
    pool = PoolMemoryResource(device, max_size=limit * MIB, upstream=upstream_resource)
    return run(device, pool, threads, operations, seed, limit)


def run(device, pool, threads, operations, seed, limit):
    model = Model()
    workers = [Worker(device, pool, model, seed + i, operations // threads) for i in range(threads)]
    errors = []

    def guarded(worker):
        try:
            worker.run()
        except BaseException as error:
            errors.append(error)
            raise

    running = [threading.Thread(target=guarded, args=(worker,)) for worker in workers]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    assert not errors, errors
    statistics = pool.statistics()
    assert model.bytes == 0
    assert statistics["allocated_bytes.current"] == statistics["allocation_count.current"] == 0
    assert statistics["allocation_count.total"] == model.allocations
    assert statistics["allocated_bytes.total"] == model.total
    assert statistics["reserved_bytes.peak"] <= limit * MIB
    device.sync()
    reserved = statistics["reserved_bytes.current"]
    assert pool.trim() == reserved, (reserved, pool.statistics())
    statistics |= {"failures": sum(worker.failures for worker in workers)}
    print(statistics)


if __name__ == "__main__":
    sys.setswitchinterval(1e-5)
    main(
        int(sys.argv[1]),
        int(sys.argv[2]),
        int(sys.argv[3]),
        *sys.argv[4:5],
        *map(int, sys.argv[5:]),
    )
