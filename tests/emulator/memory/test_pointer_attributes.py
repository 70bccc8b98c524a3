# SPDX-License-Identifier: Apache-2.0
"""Each attribute of a pointer for each kind of memory, asked alone and with all others."""

import ctypes
import struct

import pytest

INVALID_VALUE, NOT_SUPPORTED = 1, 801
SIZE, OFFSET = 4096, 24
HOST, DEVICE = 1, 2

# The numbers of cuda.h, and the format of each value.
ATTRIBUTES = {
    "CONTEXT": (1, "Q"),
    "MEMORY_TYPE": (2, "I"),
    "DEVICE_POINTER": (3, "Q"),
    "HOST_POINTER": (4, "Q"),
    "SYNC_MEMOPS": (6, "?"),
    "BUFFER_ID": (7, "Q"),
    "IS_MANAGED": (8, "?"),
    "DEVICE_ORDINAL": (9, "i"),
    "IS_LEGACY_CUDA_IPC_CAPABLE": (10, "?"),
    "RANGE_START_ADDR": (11, "Q"),
    "RANGE_SIZE": (12, "Q"),
    "MAPPED": (13, "?"),
    "ALLOWED_HANDLE_TYPES": (14, "Q"),
    "IS_GPU_DIRECT_RDMA_CAPABLE": (15, "?"),
    "ACCESS_FLAGS": (16, "I"),
    "MEMPOOL_HANDLE": (17, "Q"),
    "MAPPING_SIZE": (18, "Q"),
    "MAPPING_BASE_ADDR": (19, "Q"),
    "MEMORY_BLOCK_ID": (20, "Q"),
}
P2P_TOKENS, UNKNOWN_ATTRIBUTE = 5, 999
READ_WRITE = 3
pytestmark = pytest.mark.usefixtures("emulated")


class Memory:
    """Memory of one kind, and what its attributes must be."""

    def __init__(self, driver, kind):
        self.driver, self.kind, self.pool = driver, kind, 0
        self.base = getattr(self, f"make_{kind}")()

    def make_device(self):
        return self.driver.output("cuMemAlloc", SIZE)

    def make_pinned(self):
        return self.driver.output("cuMemAllocHost", SIZE)

    def make_managed(self):
        return self.driver.output("cuMemAllocManaged", SIZE, 1)

    def make_pooled(self):
        self.pool = self.driver.output("cuDeviceGetDefaultMemPool", 0)
        base = self.driver.output("cuMemAllocAsync", SIZE, None)
        assert self.driver.cuCtxSynchronize() == 0
        return base

    def make_registered(self):
        self.bytes = ctypes.create_string_buffer(2 * SIZE)
        base = (ctypes.addressof(self.bytes) + SIZE - 1) // SIZE * SIZE
        assert self.driver.cuMemHostRegister(base, SIZE, 0) == 0
        return base

    def close(self):
        host = {"pinned": "cuMemFreeHost", "registered": "cuMemHostUnregister"}
        assert getattr(self.driver, host.get(self.kind, "cuMemFree"))(self.base) == 0

    def expected(self):
        at, is_host = self.base + OFFSET, self.kind in ("pinned", "registered")
        return {
            "CONTEXT": self.driver.context,
            "MEMORY_TYPE": HOST if is_host else DEVICE,
            "DEVICE_POINTER": at,
            "HOST_POINTER": at if is_host or self.kind == "managed" else None,
            "SYNC_MEMOPS": False,
            "IS_MANAGED": self.kind == "managed",
            "DEVICE_ORDINAL": 0,
            "IS_LEGACY_CUDA_IPC_CAPABLE": self.kind == "device",
            "RANGE_START_ADDR": self.base,
            "RANGE_SIZE": SIZE,
            "MAPPED": True,
            "ALLOWED_HANDLE_TYPES": 0,
            "IS_GPU_DIRECT_RDMA_CAPABLE": False,
            "ACCESS_FLAGS": READ_WRITE,
            "MEMPOOL_HANDLE": self.pool,
            "MAPPING_SIZE": SIZE,
            "MAPPING_BASE_ADDR": self.base,
        }


@pytest.fixture(params=["device", "pinned", "managed", "pooled", "registered"])
def memory(request, driver):
    memory_of_kind = Memory(driver, request.param)
    yield memory_of_kind
    memory_of_kind.close()


def alone(driver, name, address):
    """Return an attribute, or None where the driver refuses it. The bytes behind it stay."""
    number, form = ATTRIBUTES[name]
    room = ctypes.create_string_buffer(b"\xaa" * 16, 16)
    code = driver.cuPointerGetAttribute(room, number, address)
    size = struct.calcsize(form)
    assert code in (0, INVALID_VALUE)
    assert room.raw[size if code == 0 else 0 :].strip(b"\xaa") == b""
    return struct.unpack_from(form, room)[0] if code == 0 else None


def together(driver, names, address):
    """Return several attributes by one call."""
    rooms = [ctypes.create_string_buffer(b"\xaa" * 16, 16) for _ in names]
    numbers = (ctypes.c_int * len(names))(*(ATTRIBUTES[name][0] for name in names))
    pointers = (ctypes.c_void_p * len(names))(*map(ctypes.addressof, rooms))
    assert driver.cuPointerGetAttributes(len(names), numbers, pointers, address) == 0
    values = {}
    for name, room in zip(names, rooms, strict=True):
        form = ATTRIBUTES[name][1]
        assert room.raw[struct.calcsize(form) :].strip(b"\xaa") == b""
        values[name] = struct.unpack_from(form, room)[0]
    return values


def test_each_attribute_has_its_value(driver, memory):
    expected = memory.expected()
    values = {name: alone(driver, name, memory.base + OFFSET) for name in expected}
    assert values == expected


def test_all_attributes_at_once_equal_the_single_ones(driver, memory):
    address = memory.base + SIZE - 1
    single = {name: alone(driver, name, address) for name in ATTRIBUTES}
    assert together(driver, [*ATTRIBUTES], address) == {k: v or 0 for k, v in single.items()}


def test_an_allocation_has_its_own_number(driver, memory):
    other = driver.output("cuMemAlloc", SIZE)
    numbers = [alone(driver, "BUFFER_ID", each) for each in (memory.base, other)]
    assert numbers[0] != numbers[1]
    assert alone(driver, "BUFFER_ID", memory.base + OFFSET) == numbers[0]
    assert driver.cuMemFree(other) == 0


def test_an_unknown_address_has_no_attributes(driver):
    address = ctypes.addressof(ctypes.create_string_buffer(16))
    assert {alone(driver, name, address) for name in ATTRIBUTES} == {None}
    values = together(driver, [*ATTRIBUTES], address)
    assert values.pop("DEVICE_ORDINAL") == -2  # CU_DEVICE_INVALID
    assert not any(values.values())


@pytest.mark.parametrize(
    ("number", "code"), [(P2P_TOKENS, NOT_SUPPORTED), (UNKNOWN_ATTRIBUTE, INVALID_VALUE)]
)
def test_other_attributes_are_refused(driver, number, code):
    base, room = driver.output("cuMemAlloc", SIZE), ctypes.create_string_buffer(16)
    pointers = (ctypes.c_void_p * 1)(ctypes.addressof(room))
    assert driver.cuPointerGetAttribute(room, number, base) == code
    assert driver.cuPointerGetAttributes(1, (ctypes.c_int * 1)(number), pointers, base) == code
    assert driver.cuMemFree(base) == 0


def test_only_synchronous_operations_of_device_memory_can_be_set(driver, memory):
    settable, on, off = ATTRIBUTES["SYNC_MEMOPS"][0], ctypes.c_uint(1), ctypes.c_uint(0)
    is_device = memory.kind in ("device", "pooled")
    set_one = driver.cuPointerSetAttribute
    code = set_one(ctypes.byref(on), settable, memory.base)
    assert code == (0 if is_device else INVALID_VALUE)
    assert alone(driver, "SYNC_MEMOPS", memory.base) is is_device
    if is_device:
        assert set_one(ctypes.byref(off), settable, memory.base) == 0
    assert alone(driver, "SYNC_MEMOPS", memory.base) is False
    for name, (number, _) in ATTRIBUTES.items():
        if name != "SYNC_MEMOPS":
            assert set_one(ctypes.byref(on), number, memory.base) == INVALID_VALUE, name
