# SPDX-License-Identifier: Apache-2.0
"""Calls of the other modules of cuda.bindings, and of cimported C functions."""

import ctypes
import shutil
import subprocess
import tempfile
from pathlib import Path

from rows import row

MANY = 1000
SOURCE = Path(__file__).parents[2] / "floor" / "many_calls.c"


@row("cimported cuCtxGetCurrent()", target=4, twin="ctx_get_current", calls=MANY)
def cimported(world):
    from cuda.bindings import cydriver

    capsule = cydriver.__pyx_capi__["cuCtxGetCurrent"]
    address = ctypes.pythonapi.PyCapsule_GetPointer
    address.restype, address.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    function = address(capsule, b"CUresult (CUcontext *)")
    many_calls = compile_loop()
    return lambda: many_calls(function, MANY)


def compile_loop():
    library = Path(tempfile.mkdtemp(prefix="halfwarp-loop-")) / "many_calls.so"
    compiler = shutil.which("cc") or shutil.which("gcc")
    subprocess.run(
        [compiler, "-O2", "-shared", "-fPIC", str(SOURCE), "-o", str(library)], check=True
    )
    many_calls = ctypes.CDLL(str(library)).many_calls
    many_calls.argtypes = (ctypes.c_void_p, ctypes.c_long)
    return many_calls


@row("nvrtcVersion()", target=60)
def nvrtc_version(world):
    from cuda.bindings import nvrtc

    assert nvrtc.nvrtcResult.NVRTC_SUCCESS == 0  # as `driver_in_use`
    return lambda: nvrtc.nvrtcVersion()


@row("nvjitlink.version()", target=60)
def nvjitlink_version(world):
    from cuda.bindings import nvjitlink

    assert issubclass(nvjitlink.nvJitLinkError, Exception)  # as `driver_in_use`
    return lambda: nvjitlink.version()


def runtime_stream(world):
    from cuda.bindings import runtime

    return runtime, runtime.cudaStream_t(int(world.stream.handle))


# NVIDIA's runtime does not run on the emulated driver.


@row("cudaGetDevice()", target=40, backends=("gpu",))
def runtime_get_device(world):
    from cuda.bindings import runtime

    return lambda: runtime.cudaGetDevice()


@row("cudaStreamQuery(h)", target=100, backends=("gpu",))
def runtime_stream_query(world):
    runtime, stream = runtime_stream(world)
    return lambda: runtime.cudaStreamQuery(stream)


@row("cudaMallocAsync + cudaFreeAsync", target=1000, backends=("gpu",))
def runtime_allocate(world):
    runtime, stream = runtime_stream(world)
    return lambda: runtime.cudaFreeAsync(runtime.cudaMallocAsync(1024, stream)[1], stream)


# --- the management library: typical queries of monitors ------------------------------------------

NVML = {
    "device_get_count_v2()": (1000, "nvml_count"),
    "device_get_handle_by_index_v2(0)": (1000, None),
    "device_get_name(h)": (1000, "nvml_name"),
    "device_get_uuid(h)": (1000, None),
    "device_get_memory_info_v2(h)": (10000, "nvml_memory"),
    "device_get_utilization_rates(h)": (10000, "nvml_utilization"),
    "device_get_temperature_v(h, 0)": (10000, "nvml_temperature"),
    "device_get_power_usage(h)": (100000, "nvml_power"),
    "device_get_clock_info(h, 0)": (100000, None),
    "device_get_pci_info_v3(h)": (1000, None),
    "device_get_compute_running_processes_v3(h)": (1000000, None),
}


def nvml_call(name):
    """Return a function that prepares the call of a row."""

    def prepare(world):
        import numpy  # noqa: F401  (the reference imports it; ours then adds its NumPy types too)
        from cuda.bindings import nvml

        assert issubclass(nvml.NotFoundError, nvml.NvmlError)  # as `driver_in_use`
        nvml.init_v2()
        scope = {"nvml": nvml, "h": nvml.device_get_handle_by_index_v2(0)}
        return eval(f"lambda: nvml.{name}", scope)

    return prepare


for name, (target, twin) in NVML.items():
    row(f"nvml.{name}", target=target, twin=twin)(nvml_call(name))
