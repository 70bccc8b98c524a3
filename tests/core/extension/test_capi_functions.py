# SPDX-License-Identifier: Apache-2.0
"""The C functions for other Cython code, called by their addresses.

tests/packaging compiles a client of them.
"""

import ctypes

import pytest
from cuda.bindings import driver
from cuda.core import (
    LEGACY_DEFAULT_STREAM,
    PER_THREAD_DEFAULT_STREAM,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    Stream,
    _core,
    launch,
)

INVALID_VALUE = 1
name_of = ctypes.pythonapi.PyCapsule_GetName
name_of.restype, name_of.argtypes = ctypes.c_char_p, (ctypes.py_object,)
address_of = ctypes.pythonapi.PyCapsule_GetPointer
address_of.restype, address_of.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)


def function(name, result, *arguments):
    capsule = _core.__pyx_capi__[name]
    return ctypes.PYFUNCTYPE(result, *arguments)(address_of(capsule, name_of(capsule)))


def of_object(name, result=ctypes.c_uint64):
    return function(name, result, ctypes.py_object)


@pytest.fixture
def objects(device, store):
    """Return open objects, which the test may close, and their class names."""
    with (
        device.create_stream() as stream,
        device.create_event() as event,
        LegacyPinnedMemoryResource().allocate(24) as buffer,
    ):
        yield {
            "Stream": stream,
            "Event": event,
            "Buffer": buffer,
            "Context": device.context,
            "Kernel": store,
        }


@pytest.mark.parametrize("name", ["Stream", "Event", "Context", "Buffer"])
def test_the_handle_of_an_open_object_is_returned(objects, name):
    entry = of_object(f"{name}_as_cu")
    assert entry(objects[name]) == int(objects[name].handle)
    if name != "Context":
        objects[name].close()
        with pytest.raises(RuntimeError, match=f"{name} has been closed"):
            entry(objects[name])


@pytest.mark.parametrize("name", ["Stream", "Event", "Context"])
def test_a_closed_object_is_refused(objects, name):
    check = of_object(f"{name}_check_open", ctypes.c_int)
    assert check(objects[name]) == 0
    if name != "Context":
        objects[name].close()
        with pytest.raises(RuntimeError, match=f"{name} has been closed"):
            check(objects[name])


def test_the_size_of_a_closed_buffer_is_zero(objects):
    size = of_object("Buffer_size", ctypes.c_size_t)
    assert size(objects["Buffer"]) == 24
    objects["Buffer"].close()
    assert size(objects["Buffer"]) == 0


def test_a_kernel_has_a_handle_and_a_function(store, handle_of):
    """The driver accepts a kernel where it launches a function."""
    kernel = int(handle_of(store))
    assert of_object("Kernel_as_cu")(store) == kernel
    assert of_object("Kernel_as_function")(store) == kernel


def test_tokens_of_default_streams_are_recognized(stream):
    is_default = of_object("Stream_is_default_token", ctypes.c_int)
    is_legacy = of_object("Stream_is_legacy_default_token", ctypes.c_int)
    streams = (LEGACY_DEFAULT_STREAM, Stream.from_handle(0), PER_THREAD_DEFAULT_STREAM, stream)
    assert [bool(is_default(each)) for each in streams] == [True, True, True, False]
    assert [bool(is_legacy(each)) for each in streams] == [True, True, False, False]


def arguments_of(*values):
    pointers = [ctypes.cast(ctypes.pointer(value), ctypes.c_void_p) for value in values]
    return (ctypes.c_void_p * len(values))(*pointers)


def attributes_of_node(builder):
    """Return the cooperative flag, the priority and the domain of a captured launch."""
    error, nodes, _ = driver.cuGraphGetNodes(builder.graph_definition.handle, 1)
    assert error == driver.CUresult.CUDA_SUCCESS
    names = driver.CUlaunchAttributeID
    values = []
    for name, field in (
        (names.CU_LAUNCH_ATTRIBUTE_COOPERATIVE, "cooperative"),
        (names.CU_LAUNCH_ATTRIBUTE_PRIORITY, "priority"),
        (names.CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, "memSyncDomain"),
    ):
        error, value = driver.cuGraphKernelNodeGetAttribute(nodes[0], name)
        assert error == driver.CUresult.CUDA_SUCCESS
        values.append(int(getattr(value, field)))
    return tuple(values)


@pytest.fixture
def launch_raw():
    return function(
        "launch_raw",
        ctypes.c_int,
        ctypes.c_void_p,
        ctypes.py_object,
        ctypes.py_object,
        ctypes.c_void_p,
    )


@pytest.mark.parametrize("further", [{}, {"priority": -1, "mem_sync_domain": 1}])
def test_a_launch_has_the_stream_the_configuration_and_the_arguments(
    device, stream, load_kernel, pinned_block, launch_raw, further
):
    body = """
        .reg .u64 %rd<3>; .reg .u32 %r<6>;
        ld.param.u64 %rd1, [out];
        mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
        mad.lo.u32 %r4, %r1, %r2, %r3;
        ld.param.u32 %r5, [value];
        mad.wide.u32 %rd2, %r4, 4, %rd1;
        st.global.u32 [%rd2], %r5;
    """
    kernel = load_kernel(".param .u64 out, .param .u32 value", body)
    numbers = (ctypes.c_uint32 * 8).from_address(int(pinned_block.handle))
    ctypes.memset(numbers, 0, 32)
    arguments = arguments_of(ctypes.c_uint64(pinned_block.handle), ctypes.c_uint32(9))
    builder = device.create_graph_builder().begin_building()
    config = LaunchConfig(grid=2, block=3, is_cooperative=True, **further)
    raw = int(builder.stream.handle)
    assert launch_raw(raw, config, kernel, ctypes.addressof(arguments)) == 0
    builder.end_building()
    assert attributes_of_node(builder) == (1, *(further.values() or (0, 0)))
    graph = builder.complete()
    stream.sync()
    assert list(numbers) == [0] * 8  # the launch was captured on the given stream
    graph.launch(stream)
    stream.sync()
    assert list(numbers) == [9] * 6 + [0] * 2
    too_large = LaunchConfig(grid=1, block=4096)
    result = launch_raw(int(stream.handle), too_large, kernel, ctypes.addressof(arguments))
    assert result == INVALID_VALUE


def test_a_prepared_launch_is_repeated_by_its_entry(stream, store, pinned_block):
    prepared = store.prepare(LaunchConfig(grid=1, block=1), pinned_block, 5)
    entry = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(
        of_object("PreparedLaunch_entry")(prepared)
    )
    number = ctypes.c_uint32.from_address(int(pinned_block.handle))
    number.value = 0
    assert entry(of_object("PreparedLaunch_state")(prepared), int(stream.handle)) == 0
    stream.sync()
    assert number.value == 5
    launch(stream, LaunchConfig(grid=1, block=1), store, pinned_block, 6)
    stream.sync()
    assert number.value == 6
