# SPDX-License-Identifier: Apache-2.0
"""The rules that the execution side is accepted by: where each is tested, and tests of some."""

import ast
import weakref
from pathlib import Path

import pytest
from cuda.core import Device, LaunchConfig, ObjectCode

ROOT = Path(__file__).parents[2]

# rule: a test of it, or several
WHERE = {
    1: ["tests/core/test_texts.py"],
    2: ["tests/core/test_closed_contract.py::test_objects_of_different_classes_are_never_equal"],
    3: ["tests/core/test_closed_contract.py::test_operations_on_a_closed_object_are_refused"],
    4: ["tests/core/execution/test_device.py", "tests/core/execution/test_device_properties.py"],
    5: ["tests/core/execution/test_green_contexts.py"],
    6: ["tests/core/execution/stream/test_event.py", "tests/core/execution/stream/test_stream.py"],
    7: ["tests/core/execution/launch/test_launch_config.py"],
    8: ["tests/core/module/test_kernel_arguments.py", "tests/core/execution/launch/test_launch.py"],
    9: ["tests/core/compile/test_program_options.py", "tests/core/compile/test_debug_source.py"],
    10: ["tests/core/module/test_object_code.py"],
    11: ["tests/core/module/test_kernel.py", "tests/core/module/test_kernel_occupancy.py"],
    12: ["tests/core/link/test_linker_options.py", "tests/core/link/test_link_failures.py"],
    13: [
        "tests/core/compile/cache/test_every_cache.py",
        "tests/core/compile/cache/test_processes.py",
    ],
    14: ["tests/core/views/test_view.py", "tests/core/views/test_array_libraries.py"],
    15: ["tests/core/views/test_layout_properties.py"],
    16: ["tests/core/views/test_tensor_map.py"],
    17: ["tests/compatibility/test_names_of_0_x.py", "tests/compatibility/test_spellings.py"],
    18: ["tests/packaging/test_cimport.py", "tests/cython/test_cimport.py"],
    19: ["tests/core/test_without_driver.py::test_it_fails_the_same_way_twice"],
}
EMPTY = b".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry f() { ret; }\n"


NAMED = range(13, 19)  # whose first file has tests that begin with test_rule_N


@pytest.mark.parametrize("rule", range(1, 20))
def test_each_rule_has_its_tests(rule):
    for place in WHERE[rule]:
        path, _, name = place.partition("::")
        tree = ast.parse((ROOT / path).read_text("utf-8"))
        names = {
            node.name
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
        }
        assert names, path
        assert not name or name in names, place
        if rule in NAMED and place == WHERE[rule][0]:
            assert any(each.startswith(f"test_rule_{rule}_") for each in names), place


@pytest.fixture
def objects(device, stream):
    """One of each class of the table, by name, with what its repr begins with."""
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
        for other, (one, _) in objects.items():
            assert (each == one) is (name == other), (name, other)
            assert (each != one) is (name != other), (name, other)


def test_a_device_belongs_to_its_thread(in_new_thread):
    assert Device(0) is Device(0)
    there = in_new_thread(lambda: Device(0))
    assert there is not Device(0)
    assert there == Device(0)
    assert hash(there) == hash(Device(0)) == hash(Device(0).uuid)


def test_parameters_of_kernels_have_the_layout_of_c(device):
    import ctypes

    for kind, ptx, size in ((ctypes.c_int32, ".u32", 4), (ctypes.c_int16, ".u16", 2)):
        for count in (0, 1, 2, 3, 16):
            struct = type(
                "S", (ctypes.Structure,), {"_fields_": [(f"p{i}", kind) for i in range(count)]}
            )
            given = ", ".join(f".param {ptx} p{i}" for i in range(count))
            text = EMPTY.replace(b"f()", f"f({given})".encode())
            kernel = ObjectCode.from_ptx(text).get_kernel("f")
            assert kernel.num_arguments == count
            found = [(info.offset, info.size) for info in kernel.arguments_info]
            assert found == [(getattr(struct, f"p{i}").offset, size) for i in range(count)]
