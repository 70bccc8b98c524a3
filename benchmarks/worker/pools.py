# SPDX-License-Identifier: Apache-2.0
"""Times one allocator of this interpreter: ``pools.py NAME THREADS`` prints one JSON line.

Started by ``python -m benchmarks.pool_comparison``, each allocator in its own process.
"""

import json
import sys
from threading import Barrier, Thread
from time import perf_counter_ns

from timing import least

SIZE = 1024
CALLS = 4_000  # per thread in a window
WINDOWS = 15


def empty():
    def call():
        pass

    return lambda: call


def with_stream(make_resource):
    """Return allocations of a resource of cuda.core, with one stream per thread."""
    from cuda.core import Device

    device = Device(0)
    device.set_current()
    resource = make_resource(device)

    def for_thread():
        device.set_current()
        stream = device.create_stream()
        return lambda: resource.allocate(SIZE, stream=stream).close()

    return for_thread


def our_pool():
    from cuda.core import PoolMemoryResource

    return with_stream(PoolMemoryResource)


def driver_pool():
    from cuda.core import DeviceMemoryResource

    return with_stream(DeviceMemoryResource)


def cupy_pool():
    import cupy

    pool = cupy.cuda.MemoryPool()

    def for_thread():
        cupy.cuda.Device(0).use()
        return lambda: pool.malloc(SIZE)

    return for_thread


def torch_caching():
    import torch

    torch.cuda.init()
    allocate, free = torch.cuda.caching_allocator_alloc, torch.cuda.caching_allocator_delete
    return lambda: lambda: free(allocate(SIZE))


def torch_empty():
    import torch

    torch.cuda.init()
    kind = torch.uint8
    return lambda: lambda: torch.empty(SIZE, dtype=kind, device="cuda")


def rmm_pool():
    import rmm

    pool = rmm.mr.PoolMemoryResource(rmm.mr.CudaMemoryResource(), initial_pool_size=1 << 26)
    return lambda: lambda: pool.deallocate(pool.allocate(SIZE), SIZE)


ALLOCATORS = {
    "an empty Python call": empty,
    "our pool": our_pool,
    "our DeviceMemoryResource": driver_pool,
    "the reference's DeviceMemoryResource": driver_pool,
    "CuPy's pool": cupy_pool,
    "PyTorch's caching allocator": torch_caching,
    "torch.empty": torch_empty,
    "rmm's pool": rmm_pool,
}


def window(for_thread, threads):
    """Return wall-clock nanoseconds per call over all threads."""
    barrier = Barrier(threads)
    spans, failures = [], []

    def work():
        call = None
        try:
            call = for_thread()
            call()
        except Exception as error:
            failures.append(error)
        barrier.wait()
        start = perf_counter_ns()
        for _ in range(0 if failures else CALLS):
            call()
        spans.append((start, perf_counter_ns()))

    started = [Thread(target=work) for _ in range(threads)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()
    if failures:
        raise failures[0]
    starts, ends = zip(*spans, strict=True)
    return (max(ends) - min(starts)) / (CALLS * threads)


def main(name, threads):
    try:
        for_thread = ALLOCATORS[name]()
        if threads == 1:
            ns = least(for_thread())[0]
        else:
            ns = min(window(for_thread, threads) for _ in range(WINDOWS))
    except ImportError as error:
        print(json.dumps({"absent": str(error)}))
        return
    except Exception as error:
        print(json.dumps({"error": f"{type(error).__name__}: {error}"}))
        return
    has_lock = getattr(sys, "_is_gil_enabled", lambda: True)()
    print(json.dumps({"ns": ns, "lock": has_lock}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
