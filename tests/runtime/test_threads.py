# SPDX-License-Identifier: Apache-2.0
"""Many concurrent threads that use the runtime for the first time."""

from functools import partial

import numpy as np
from cuda.bindings import runtime

from ..threads import run_together
from .conftest import ok

THREADS, ROUNDS = 8, 20
Kind = runtime.cudaMemcpyKind


def work(number):
    sent, received = np.full(512, number, np.uint8), np.zeros(512, np.uint8)
    for _ in range(ROUNDS):
        stream = ok(runtime.cudaStreamCreate())
        address = ok(runtime.cudaMallocAsync(512, stream))
        for to, source in ((address, sent.ctypes.data), (received.ctypes.data, address)):
            ok(runtime.cudaMemcpyAsync(to, source, 512, Kind.cudaMemcpyDefault, stream))
        ok(runtime.cudaFreeAsync(address, stream))
        ok(runtime.cudaStreamSynchronize(stream))
        ok(runtime.cudaStreamDestroy(stream))
        assert (received == number).all()
    assert runtime.cudaGetLastError()[0] == runtime.cudaError_t.cudaSuccess


def test_concurrent_first_uses_do_not_interfere():
    run_together(*(partial(work, number + 1) for number in range(THREADS)))


def test_the_first_calls_of_a_process_may_come_from_many_threads(run_python):
    output = run_python("""
        import threading
        start = threading.Barrier(8)
        def first():
            start.wait()
            results.append((runtime.cudaMalloc(64)[0].name, runtime.cudaGetDevice()[1]))
        results = []
        threads = [threading.Thread(target=first) for _ in range(8)]
        for each in threads: each.start()
        for each in threads: each.join()
        print(set(results))
    """)
    assert output == ["{('cudaSuccess', 0)}"]
