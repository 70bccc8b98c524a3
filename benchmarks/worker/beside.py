# SPDX-License-Identifier: Apache-2.0
"""Rows with a counterpart in CuPy and Numba: ``beside.py cupy|numba`` prints a JSON line per row.

Each row uses the package's idiomatic calls. Started by `python -m benchmarks --beside`, in a
separate process.
"""

import json
import sys
import warnings

from timing import least

SIGNATURES = {
    "k0": "",
    "k4": "float a, double b, int c, long long d",
    "k4_buffers": "float a, const float* x, float* y, long long n",
    "k16": ", ".join(f"long long a{i}" for i in range(16)),
    "k16_buffers": ", ".join(f"float* a{i}" for i in range(16)),
    "k64": ", ".join(f"long long a{i}" for i in range(64)),
}
ADDRESSES = [0x7F1200000000 + 512 * i for i in range(64)]


def cupy_rows():
    """Map each row to a function that creates the call to time."""
    import cupy
    import numpy as np
    from cupy.cuda import runtime

    source = "\n".join(
        f'extern "C" __global__ void {name}({parameters}) {{}}'
        for name, parameters in SIGNATURES.items()
    )
    module = cupy.RawModule(code=source)
    stream = cupy.cuda.Stream(non_blocking=True)
    stream.use()
    x, y = cupy.empty(256, "f4"), cupy.empty(256, "f4")
    one, event = (1,), cupy.cuda.Event(disable_timing=True)
    event.record(stream)
    other, device = cupy.cuda.Stream(non_blocking=True), cupy.cuda.Device()
    four = (np.float32(1), np.float64(2), np.int32(3), np.int64(4))

    def launching(name, arguments):
        kernel = module.get_function(name)
        return lambda: kernel(one, one, arguments)

    def allocating(pool):
        return lambda: pool.malloc(1024)

    def graph():
        stream.begin_capture()
        module.get_function("k0")(one, one, ())
        executable = stream.end_capture()
        return lambda: executable.launch(stream)

    return {
        "launch, no argument": lambda: launching("k0", ()),
        "launch, 4 scalars": lambda: launching("k4", four),
        "launch, 4 with 2 Buffers": lambda: launching("k4_buffers", (four[0], x, y, 4)),
        "launch, 16 addresses": lambda: launching("k16", tuple(ADDRESSES[:16])),
        "launch, 16 Buffers": lambda: launching("k16_buffers", (x, y) * 8),
        "launch, 64 addresses": lambda: launching("k64", tuple(ADDRESSES)),
        "Device()": lambda: lambda: cupy.cuda.Device(),
        "set_current()": lambda: lambda: device.use(),
        "stream create+close": lambda: lambda: cupy.cuda.Stream(non_blocking=True),
        "event create+close": lambda: lambda: cupy.cuda.Event(disable_timing=True),
        "record()": lambda: lambda: stream.record(),
        "record(ev)": lambda: lambda: event.record(stream),
        "wait(ev)": lambda: lambda: other.wait_event(event),
        "allocate+close, driver pool": lambda: allocating(cupy.cuda.MemoryAsyncPool()),
        "allocate+close, our pool": lambda: allocating(cupy.cuda.MemoryPool()),
        "copy_to": lambda: lambda: y.data.copy_from_device_async(x.data, 1024, stream),
        "fill": lambda: lambda: x.data.memset_async(7, 1024, stream),
        "Buffer.__dlpack__()": lambda: lambda: x.__dlpack__(),
        "launch a graph": graph,
        "cudaGetDevice()": lambda: runtime.getDevice,
        "cudaStreamQuery(h)": lambda: lambda: runtime.streamQuery(other.ptr),
        "cudaMallocAsync + cudaFreeAsync": lambda: (
            lambda: runtime.freeAsync(runtime.mallocAsync(1024, stream.ptr), stream.ptr)
        ),
    }


def numba_rows():
    """Map each row to a function that creates the call to time."""
    import numpy as np
    from numba import config, cuda

    config.CUDA_LOW_OCCUPANCY_WARNINGS = False
    warnings.simplefilter("ignore")
    stream, other = cuda.stream(), cuda.stream()
    x, y = (cuda.device_array(256, np.float32, stream=stream) for _ in range(2))
    event = cuda.event(timing=False)
    event.record(stream)

    def launching(kernel, *arguments):
        configured = cuda.jit(kernel)[1, 1, stream]
        return lambda: configured(*arguments)

    def with_16(a, b, c, d, e, f, g, h, i, j, k, m, n, o, p, q):
        pass

    def with_0():
        pass

    def with_4(a, b, c, d):
        pass

    four = (np.float32(1), 2.0, np.int32(3), 4)
    return {
        "launch, no argument": lambda: launching(with_0),
        "launch, 4 scalars": lambda: launching(with_4, *four),
        "launch, 4 with 2 Buffers": lambda: launching(with_4, four[0], x, y, 4),
        "launch, 16 addresses": lambda: launching(with_16, *ADDRESSES[:16]),
        "launch, 16 Buffers": lambda: launching(with_16, *[x, y] * 8),
        "stream create+close": lambda: lambda: cuda.stream(),
        "event create+close": lambda: lambda: cuda.event(timing=False),
        "record(ev)": lambda: lambda: event.record(stream),
        "wait(ev)": lambda: lambda: event.wait(other),
        "allocate+close, driver pool": lambda: lambda: cuda.device_array(1024, np.uint8),
        "copy_to": lambda: lambda: y.copy_to_device(x, stream=stream),
    }


ROWS = {"cupy": cupy_rows, "numba": numba_rows}


def main(package):
    try:
        rows = ROWS[package]()
    except Exception as error:
        print(json.dumps({"absent": f"{type(error).__name__}: {error}"}))
        return
    for name, prepare in rows.items():
        try:
            whole, empty = least(prepare())
            result = {"row": name, "ns": whole - empty}
        except Exception as error:  # continue with the other rows
            result = {"row": name, "error": f"{type(error).__name__}: {error}"}
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
