# SPDX-License-Identifier: Apache-2.0
"""Frees that fail: the pool keeps its memory usable and raises the error."""

import pytest
from cuda.core import PER_THREAD_DEFAULT_STREAM, CUDAError

from .test_guarantees import MIB, Counting


def test_a_free_whose_order_fails_returns_the_block(device, pool, stream, emulation, in_new_thread):
    """A per-thread default stream that frees must wait for the one that allocated."""
    buffer = pool.allocate(MIB, stream=PER_THREAD_DEFAULT_STREAM)
    address = buffer.handle

    def close():
        device.set_current()
        with emulation.inject("cuStreamWaitEvent", error="CUDA_ERROR_UNKNOWN"):
            with pytest.raises(CUDAError, match="cuStreamWaitEvent"):
                buffer.close()

    in_new_thread(close)
    assert buffer.is_closed
    assert pool.statistics()["allocated_bytes.current"] == 0
    with pool.allocate(MIB, stream=PER_THREAD_DEFAULT_STREAM) as again:
        assert again.handle == address


def test_segments_whose_deallocation_fails_are_named(device, make_pool, stream, capfd):
    class Failing(Counting):
        def deallocate(self, ptr, size, *, stream):
            super().deallocate(ptr, size, stream=stream)
            raise ValueError(f"{size} bytes")

    upstream = Failing(device)
    pool = make_pool(upstream=upstream)
    for size in (2 * MIB, 4 * MIB):
        pool.allocate(size, stream=stream).close()
    assert pool.trim() == 6 * MIB
    printed = capfd.readouterr().err.splitlines()
    start = "Warning: mr.deallocate() failed during Buffer destruction: "
    assert sorted(printed) == [f"{start}{size} bytes" for size in (2 * MIB, 4 * MIB)]
    assert upstream.live == {}
    assert pool.statistics()["reserved_bytes.current"] == 0
    assert pool.trim() == 0
