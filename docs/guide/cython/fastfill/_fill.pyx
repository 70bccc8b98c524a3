# SPDX-License-Identifier: Apache-2.0
from cuda.bindings.cydriver cimport CUresult, CUstream, CUdeviceptr, cuMemsetD8Async
from cuda.core._core cimport Buffer, Stream
from cuda.core.capi cimport Buffer_as_cu, Buffer_size, Stream_accept, Stream_as_cu


def fill(Buffer buffer not None, unsigned char value, stream):
    """Set each byte of a buffer. Stream-ordered."""
    cdef Stream order = Stream_accept(stream)  # a Stream that is open, or an exception
    cdef CUstream raw = Stream_as_cu(order)
    cdef CUdeviceptr address = Buffer_as_cu(buffer)
    cdef size_t size = Buffer_size(buffer)
    cdef CUresult code
    with nogil:
        code = cuMemsetD8Async(address, value, size, raw)
    if code != 0:
        raise RuntimeError(f"cuMemsetD8Async returned {<int>code}")
