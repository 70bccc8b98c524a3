# SPDX-License-Identifier: Apache-2.0
"""Compares both APIs of the low layer: `driver` and the provisional `_v2.driver`.

The classic functions return an error code and the outputs; functions of `_v2` return the outputs
and raise exceptions. Both accept the same handles, so a program can migrate call by call. Runs
without a GPU if HALFWARP_BACKEND=emulator is set. Prints the device, the results, a failure, and
"agree".
"""

import sys

from cuda.bindings import driver as classic
from cuda.bindings._v2 import driver


def check(result):
    """Return the outputs of a classic call; raise for an error code."""
    code, *outputs = result
    if code != classic.CUresult.CUDA_SUCCESS:
        raise RuntimeError(f"{code.name}: {code.__doc__}")
    return outputs[0] if len(outputs) == 1 else outputs


def with_codes(data):
    """Copy the bytes to the device and back, with a check around each call."""
    stream = check(classic.cuStreamCreate(0))
    memory = check(classic.cuMemAllocAsync(len(data), stream))
    result = bytearray(len(data))
    check(classic.cuMemcpyHtoDAsync(memory, data, len(data), stream))
    check(classic.cuMemcpyDtoHAsync(result, memory, len(data), stream))
    check(classic.cuMemFreeAsync(memory, stream))
    check(classic.cuStreamSynchronize(stream))
    check(classic.cuStreamDestroy(stream))
    return bytes(result)


def with_exceptions(data):
    """Copy the bytes to the device and back; errors raise exceptions."""
    stream = driver.stream_create(0)
    memory = driver.mem_alloc_async(len(data), stream)
    result = bytearray(len(data))
    driver.memcpy_htod_async_v2(memory, data, len(data), stream)
    driver.memcpy_dtoh_async_v2(result, memory, len(data), stream)
    driver.mem_free_async(memory, stream)
    driver.stream_synchronize(stream)
    driver.stream_destroy_v2(stream)
    return bytes(result)


def main() -> int:
    driver.init(0)
    context = driver.device_primary_ctx_retain(0)
    driver.ctx_set_current(context)
    name = driver.device_get_name(96, 0).partition(b"\0")[0].decode()
    warp = driver.device_get_attribute(driver.DeviceAttribute.WARP_SIZE, 0)
    print(f"device     {name}, warps of {warp}")
    data = bytes(range(256))
    first, second = with_codes(data), with_exceptions(data)
    print(f"classic    {len(first)} bytes, _v2 {len(second)} bytes")
    try:
        driver.device_get(10_000)
    except driver.InvalidDeviceError as error:
        print(f"a failure  {type(error).__name__}: {error}")
    driver.device_primary_ctx_release_v2(0)
    print("agree" if first == second == data else "differ")
    return 0 if first == second == data else 1


if __name__ == "__main__":
    sys.exit(main())
