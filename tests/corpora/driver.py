# SPDX-License-Identifier: Apache-2.0
"""Launches the recorded PTX of a folder through the driver, by ctypes.

Run: ``python driver.py FOLDER OUTPUTS [PART/PARTS]``. The file runs alone, on the emulator and on a
GPU for the recording. `cases.json` in the folder names the kernels, their arguments and buffers.
"""

import ctypes
import json
import os
import sys
from pathlib import Path

import numpy as np

JIT_LOG = 5, 6  # CU_JIT_ERROR_LOG_BUFFER and its size
DYNAMIC_SHARED = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
STATIC_LIMIT = 48 * 1024
MARGIN = 256  # bytes behind each buffer
SCALARS = {
    "i32": ctypes.c_int32,
    "i64": ctypes.c_int64,
    "u64": ctypes.c_uint64,
    "f32": ctypes.c_float,
    "f64": ctypes.c_double,
}
cuda = ctypes.CDLL("libcuda.so.1")


class CallError(Exception):
    pass


def call(name, *arguments):
    """Call a function of the driver, and raise for an error."""
    code = getattr(cuda, name)(*arguments)
    if code:
        text = ctypes.c_char_p()
        cuda.cuGetErrorName(code, ctypes.byref(text))
        raise CallError(f"{name}: {text.value.decode() if text.value else code}")


def to_bf16(values):
    bits = np.asarray(values, "f4").view("u4")
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype("u2")


def generate(buffer, seed):
    """Return the first contents of a buffer: the same numbers on every machine."""
    random = np.random.default_rng(seed)
    count = int(np.prod(buffer["shape"]))
    low, high = buffer.get("range", (-1, 1))
    if buffer["fill"] == "zeros":
        values = np.zeros(count)
    else:
        values = random.random(count) * (high - low) + low
    if buffer["fill"] == "integers":
        values = np.floor(values)
    dtype = buffer["dtype"]
    if dtype == "bf16":
        values = to_bf16(values)
    elif dtype == "e4m3":  # finite bytes of small size
        signs = 128 * (random.random(count) < 0.5)
        values = (np.floor((values - low) / (high - low) * 48) + 8 + signs).astype("u1")
    else:
        values = values.astype(dtype)
    return values.reshape(buffer["shape"])


def start():
    """Make the primary context of device 0 current."""
    device, context = ctypes.c_int(), ctypes.c_void_p()
    call("cuInit", 0)
    call("cuDeviceGet", ctypes.byref(device), 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    call("cuCtxSetCurrent", context)


def load(path):
    """Load PTX and return the module."""
    log = ctypes.create_string_buffer(4096)
    keys = (ctypes.c_int * 2)(*JIT_LOG)
    values = (ctypes.c_void_p * 2)(ctypes.cast(log, ctypes.c_void_p), 4096)
    module = ctypes.c_void_p()
    try:
        call("cuModuleLoadDataEx", ctypes.byref(module), path.read_bytes() + b"\0", 2, keys, values)
    except CallError as error:
        raise CallError(f"{error} {log.value.decode(errors='replace').strip()[:300]}") from None
    return module


def upload(array):
    """Return the address of a copy of an array."""
    place, size = ctypes.c_uint64(), ctypes.c_size_t(array.nbytes + MARGIN)
    call("cuMemAlloc_v2", ctypes.byref(place), size)
    call("cuMemsetD8_v2", place, 0, size)
    data = ctypes.c_void_p(array.ctypes.data)
    call("cuMemcpyHtoD_v2", place, data, ctypes.c_size_t(array.nbytes))
    return place


def run(case, folder):
    """Launch a kernel and return its outputs."""
    module, function = load(Path(folder) / case["file"]), ctypes.c_void_p()
    call("cuModuleGetFunction", ctypes.byref(function), module, case["kernel"].encode())
    if case["shared"] > STATIC_LIMIT:
        call("cuFuncSetAttribute", function, DYNAMIC_SHARED, case["shared"])
    arrays = [
        np.ascontiguousarray(generate(buffer, case["seed"] * 100 + n))
        for n, buffer in enumerate(case["buffers"])
    ]
    places = [upload(array) for array in arrays]
    values = []
    for kind, value in case["arguments"]:
        is_buffer = kind == "buffer"
        values.append(places[value] if is_buffer else SCALARS[kind](value))
    pointers = [ctypes.cast(ctypes.pointer(value), ctypes.c_void_p) for value in values]
    table = (ctypes.c_void_p * len(pointers))(*pointers)
    shape = *case["grid"], *case["block"], case["shared"]
    call("cuLaunchKernel", function, *shape, None, table, None)
    call("cuCtxSynchronize")
    for place, array in zip(places, arrays, strict=True):
        data = ctypes.c_void_p(array.ctypes.data)
        call("cuMemcpyDtoH_v2", data, place, ctypes.c_size_t(array.nbytes))
        call("cuMemFree_v2", place)
    call("cuModuleUnload", module)
    return [a for a, b in zip(arrays, case["buffers"], strict=True) if b["is_output"]]


def main(folder, target, part="0/1"):
    start()
    os.makedirs(target, exist_ok=True)
    first, step = map(int, part.split("/"))
    for case in json.loads((Path(folder) / "cases.json").read_text())[first::step]:
        head = f"CASE {case['family']} {case['name']}"
        try:
            outputs = run(case, folder)
        except CallError as error:
            print(head, "refused", error, flush=True)
            continue
        for n, output in enumerate(outputs):
            path = Path(target) / f"{case['family']}@{case['name']}@{n}.bin"
            path.write_bytes(output.tobytes())
        print(head, "ran", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
