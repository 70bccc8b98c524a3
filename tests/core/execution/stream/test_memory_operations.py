# SPDX-License-Identifier: Apache-2.0
"""Values in memory that streams write, wait for and change, in stream order."""

import ctypes
import time

import pytest
from cuda.bindings import driver
from cuda.core import (
    CUDAError,
    LegacyPinnedMemoryResource,
    ManagedMemoryResource,
    VirtualMemoryResource,
)


@pytest.fixture
def words(device):
    """Page-locked memory, as an array of 32-bit numbers and as its address."""
    with LegacyPinnedMemoryResource().allocate(64) as block:
        address = int(block.handle)
        numbers = (ctypes.c_uint32 * 16).from_address(address)
        ctypes.memset(address, 0, 64)
        yield numbers, address


def test_values_are_written_in_stream_order(stream, words):
    numbers, address = words
    stream.write_value(address, 7)
    stream.write_value(address + 4, -1)
    stream.write_value(address + 8, 2**40 + 3, bits=64)
    stream.write_value(address, 9)
    stream.sync()
    assert list(numbers[:4]) == [9, 2**32 - 1, 3, 2**8]


def test_a_buffer_is_a_target(stream):
    with LegacyPinnedMemoryResource().allocate(16) as buffer:
        stream.write_value(buffer, 0x01020304)
        stream.wait_value(buffer, 0x01020304, "==")
        stream.sync()
        assert ctypes.string_at(int(buffer.handle), 4) == b"\x04\x03\x02\x01"


def test_device_memory_is_a_target(stream):
    error, address = driver.cuMemAlloc(16)
    assert error == driver.CUresult.CUDA_SUCCESS
    read = bytearray(4)
    stream.write_value(int(address), 0x01020304)
    stream.wait_value(int(address), 0x01020304, "==")
    stream.sync()
    assert driver.cuMemcpyDtoH(read, address, 4)[0] == driver.CUresult.CUDA_SUCCESS
    assert driver.cuMemFree(address)[0] == driver.CUresult.CUDA_SUCCESS
    assert read == b"\x04\x03\x02\x01"


def test_mapped_memory_is_a_target(device, stream):
    with VirtualMemoryResource(device).allocate(16, stream=stream) as buffer:
        stream.write_value(buffer, 5)
        stream.wait_value(buffer, 5, "==")
        stream.sync()


@pytest.mark.parametrize("kind", ["pool", "managed"])
def test_memory_that_cannot_be_a_target_is_reported(device, stream, kind):
    if kind == "pool":
        buffer = device.allocate(16, stream=stream)
    else:
        buffer = ManagedMemoryResource().allocate(16, stream=stream)
    with buffer, pytest.raises(CUDAError, match="CUDA_ERROR_INVALID_VALUE") as caught:
        stream.write_value(buffer, 1)
    assert any("LegacyPinnedMemoryResource" in note for note in caught.value.__notes__)


def test_the_flag_of_the_first_api_is_refused(stream, words):
    no_barrier = driver.CUstreamWriteValue_flags.CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER
    (error,) = driver.cuStreamWriteValue32(stream.handle, words[1], 1, no_barrier)
    assert error == driver.CUresult.CUDA_ERROR_INVALID_VALUE


@pytest.mark.parametrize(
    ("condition", "expected", "initial", "final", "bits"),
    [
        (">=", 5, 4, 6, 32),
        (">=", 1, 2**32 - 2, 3, 32),  # the counter wraps around
        ("==", 5, 6, 5, 32),
        ("&", 6, 8, 2, 32),
        ("nor", 2**32 - 2, 1, 0, 32),
        (">=", 2**33, 2**33 - 1, 2**33, 64),
    ],
)
def test_a_stream_waits_until_the_host_writes(
    stream, words, condition, expected, initial, final, bits
):
    numbers, address = words
    kind = ctypes.c_uint64 if bits == 64 else ctypes.c_uint32
    word = kind.from_address(address)
    word.value = initial
    stream.wait_value(address, expected, condition, bits)
    stream.write_value(address + 32, 1)
    time.sleep(0.05)
    assert not stream.is_done
    assert numbers[8] == 0
    word.value = final
    stream.sync()
    assert numbers[8] == 1


def test_a_stream_waits_for_another(device, words):
    numbers, address = words
    with device.create_stream() as first, device.create_stream() as second:
        first.wait_value(address, 1)
        first.write_value(address + 4, 2)
        second.write_value(address, 1)
        second.wait_value(address + 4, 2)
        second.write_value(address + 8, 3)
        second.sync()
    assert list(numbers[:3]) == [1, 2, 3]


@pytest.mark.parametrize("bits", [32, 64])
def test_reductions_change_the_value(emulation, stream, words, bits):
    numbers, address = words
    stream.reduce_value("add", address, 12, bits)
    stream.reduce_value("and", address, -8, bits)
    stream.reduce_value("or", address, 3, bits)
    stream.memory_barrier()
    stream.sync()
    assert numbers[0] == 11


def test_a_batch_is_done_in_order(stream, words):
    numbers, address = words
    stream.value_operations(
        [
            ("write", address, 1),
            ("wait", address, 1, "=="),
            ("write", address, 2),
            ("write", address + 8, 2**32, 64),
        ]
    )
    stream.value_operations([])
    stream.sync()
    assert list(numbers[:4]) == [2, 0, 0, 1]


@pytest.mark.parametrize(
    ("call", "arguments", "error", "match"),
    [
        ("write_value", ("x", 1), TypeError, "a Buffer or an address"),
        ("write_value", (0, 1), ValueError, "an address from 1"),
        ("write_value", (-8, 1), ValueError, "an address from 1"),
        ("write_value", (8, 2**32), OverflowError, "32 bits"),
        ("write_value", (8, 1.5), TypeError, "value must be an int"),
        ("write_value", (8, 1, 16), ValueError, "bits must be 32 or 64"),
        ("wait_value", (8, 1, ">"), ValueError, "condition must be one of '>='"),
        ("reduce_value", ("xor", 8, 1), ValueError, "operation must be one of 'add'"),
        ("memory_barrier", ("block",), ValueError, "scope must be one of"),
        ("value_operations", ([("flush",)],), ValueError, "the name of an operation"),
        ("value_operations", ([3],), TypeError, "an operation is a tuple"),
        ("value_operations", ([("write", 8)],), TypeError, "argument"),
    ],
)
def test_invalid_calls_name_the_cause(stream, call, arguments, error, match):
    with pytest.raises(error, match=match):
        getattr(stream, call)(*arguments)


def test_closed_objects_are_refused(device, stream, words):
    _, address = words
    buffer = device.allocate(8, stream=stream)
    buffer.close()
    with pytest.raises(RuntimeError, match="Buffer has been closed"):
        stream.write_value(buffer, 1)
    stream.close()
    with pytest.raises(RuntimeError, match="Stream has been closed"):
        stream.write_value(address, 1)


def test_addresses_that_are_not_the_devices_are_refused(emulation, stream, words):
    _, address = words
    plain = ctypes.c_uint32()
    for wrong in (address + 2, ctypes.addressof(plain), 0x1000):
        with pytest.raises(CUDAError):
            stream.write_value(wrong, 1)


def test_a_wait_that_nothing_ends_is_diagnosed(run_python):
    code = """
from cuda.core import Device, LegacyPinnedMemoryResource
device = Device(0)
device.set_current()
stream = device.create_stream()
word = LegacyPinnedMemoryResource().allocate(8)
stream.write_value(word, 3)
stream.wait_value(word, 7)
try:
    stream.sync()
except Exception as error:
    print(error.name, "waits for at least 7" in str(error), "where 3 stays" in str(error))
"""
    output = run_python(
        code,
        HALFWARP_BACKEND="emulator",
        HALFWARP_EMULATOR_STEP_LIMIT="4000000",
        allowed=("emulator", " ", "halfwarp", "deadlock: "),
    )
    assert output.split() == ["CUDA_ERROR_LAUNCH_FAILED", "True", "True"]
