# SPDX-License-Identifier: Apache-2.0
"""Many threads at once, none of which has used the runtime before."""

from functools import partial

import numpy as np
from cuda.bindings import runtime

from ..threads import run_together
from .conftest import ok

THREADS, ROUNDS = 8, 20
Kind = runtime.cudaMemcpyKind


def work(number):
    sent, got = np.full(512, number, np.uint8), np.zeros(512, np.uint8)
    for _ in range(ROUNDS):
        stream = ok(runtime.cudaStreamCreate())
        address = ok(runtime.cudaMallocAsync(512, stream))
        for to, source in ((address, sent.ctypes.data), (got.ctypes.data, address)):
            ok(runtime.cudaMemcpyAsync(to, source, 512, Kind.cudaMemcpyDefault, stream))
        ok(runtime.cudaFreeAsync(address, stream))
        ok(runtime.cudaStreamSynchronize(stream))
        ok(runtime.cudaStreamDestroy(stream))
        assert (got == number).all()
    assert runtime.cudaGetLastError()[0] == runtime.cudaError_t.cudaSuccess


def test_threads_that_begin_together_do_not_disturb_each_other():
    run_together(*(partial(work, number + 1) for number in range(THREADS)))


def test_the_first_calls_of_a_process_may_come_from_many_threads(run_python):
    said = run_python("""
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
    assert said == ["{('cudaSuccess', 0)}"]
