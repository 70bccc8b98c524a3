# SPDX-License-Identifier: Apache-2.0
"""cuda-cccl: reduce, scan and sort arrays in memory of cuda.core."""

import ctypes
from dataclasses import dataclass

import cuda.compute
import numpy as np
from cuda.compute import CountingIterator, OpKind, SortOrder
from cuda.core import Buffer, Device, LegacyPinnedMemoryResource

N = 1000


@dataclass
class Array:
    """Argument of `cuda.compute`: an object with the CUDA array interface."""

    buffer: Buffer
    host: np.ndarray

    @property
    def __cuda_array_interface__(self):
        address = int(self.buffer.handle)
        layout = {"typestr": self.host.dtype.str, "shape": self.host.shape, "strides": None}
        return {"data": (address, False), "version": 3, **layout}


def array(content):
    """Return an array with that content in pinned memory, which host and device both access."""
    buffer = memory.allocate(content.nbytes)
    raw = (ctypes.c_byte * content.nbytes).from_address(int(buffer.handle))
    host = np.frombuffer(raw, dtype=content.dtype)
    host[:] = content
    return Array(buffer, host)


device = Device()
device.set_current()
stream = device.create_stream()
memory = LegacyPinnedMemoryResource()

values = array(np.arange(N, dtype=np.int32))
total, scanned = array(np.zeros(1, np.int32)), array(np.zeros(N, np.int32))
zero = np.zeros(1, np.int32)
plus = {"op": OpKind.PLUS, "num_items": N, "stream": stream}
cuda.compute.reduce_into(d_in=values, d_out=total, h_init=zero, **plus)
cuda.compute.exclusive_scan(d_in=values, d_out=scanned, init_value=zero, **plus)
counted = array(np.zeros(1, np.int32))
cuda.compute.reduce_into(d_in=CountingIterator(np.int32(1)), d_out=counted, h_init=zero, **plus)

keys = array(np.random.default_rng(1).permutation(N).astype(np.uint32))
ordered = array(np.zeros(N, np.uint32))
cuda.compute.radix_sort(
    d_in_keys=keys,
    d_out_keys=ordered,
    num_items=N,
    order=SortOrder.DESCENDING,
    stream=stream,
)
stream.sync()

assert total.host[0] == values.host.sum()
assert counted.host[0] == values.host.sum() + N
assert np.array_equal(scanned.host, np.cumsum(values.host) - values.host)
assert np.array_equal(ordered.host, np.arange(N, dtype=np.uint32)[::-1])
print(f"cuda.compute: sum {total.host[0]}, scan ends at {scanned.host[-1]}, sort descends")
