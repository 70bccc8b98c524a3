# SPDX-License-Identifier: Apache-2.0
"""Behavior that all classes of the execution side share."""

import weakref

import pytest
from cuda.core import Device, LaunchConfig, ObjectCode

EMPTY = b".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry f() { ret; }\n"


@pytest.fixture
def objects(device, stream):
    """Objects of all classes by name, with the start of their repr."""
    code = ObjectCode.from_ptx(EMPTY)
    with device.create_event() as event:
        yield {
            "Device": (device, "<Device 0 ("),
            "Stream": (stream, "<Stream handle=0x"),
            "Event": (event, "<Event handle=0x"),
            "Context": (stream.context, "<Context handle=0x"),
            "LaunchConfig": (LaunchConfig(grid=1, block=1), "LaunchConfig(grid=(1, 1, 1), "),
            "ObjectCode": (code, "<ObjectCode handle=0x"),
            "Kernel": (code.get_kernel("f"), "<Kernel handle=0x"),
        }


def test_equality_hash_weak_references_and_repr(objects):
    for name, (each, start) in objects.items():
        assert repr(each).startswith(start), name
        assert each == each
        assert hash(each) == hash(each)
        assert weakref.ref(each)() is each
        assert each in weakref.WeakSet([each])
        for other, (candidate, _) in objects.items():
            assert (each == candidate) is (name == other), (name, other)
            assert (each != candidate) is (name != other), (name, other)


def test_a_device_belongs_to_its_thread(in_new_thread):
    assert Device(0) is Device(0)
    other_device = in_new_thread(lambda: Device(0))
    assert other_device is not Device(0)
    assert other_device == Device(0)
    assert hash(other_device) == hash(Device(0)) == hash(Device(0).uuid)


def test_kernel_parameters_have_the_layout_of_c(device):
    import ctypes

    for kind, ptx, size in ((ctypes.c_int32, ".u32", 4), (ctypes.c_int16, ".u16", 2)):
        for count in (0, 1, 2, 3, 16):
            struct = type(
                "S", (ctypes.Structure,), {"_fields_": [(f"p{i}", kind) for i in range(count)]}
            )
            parameters = ", ".join(f".param {ptx} p{i}" for i in range(count))
            text = EMPTY.replace(b"f()", f"f({parameters})".encode())
            kernel = ObjectCode.from_ptx(text).get_kernel("f")
            assert kernel.num_arguments == count
            layout = [(info.offset, info.size) for info in kernel.arguments_info]
            assert layout == [(getattr(struct, f"p{i}").offset, size) for i in range(count)]
