# SPDX-License-Identifier: Apache-2.0
"""`cuda.bindings._v2.runtime`, which has no reference yet, by the rules of the driver's face."""

import builtins
import re

import pytest
from cuda.bindings import runtime as classic
from cuda.bindings._v2 import runtime

from generator import libraries


@pytest.fixture(autouse=True)
def device():
    runtime.set_device(0)
    yield
    runtime.get_last_error()  # clears the error of the test


@pytest.fixture(scope="module")
def library():
    return libraries.load("v2_runtime")


def test_every_function_of_the_first_face_exists():
    first = {f.name for f in libraries.load("runtime").functions if f.in_python}
    structs = {"cudaCreateChannelDesc", "make_cudaExtent", "make_cudaPitchedPtr", "make_cudaPos"}
    names = {f.name for f in libraries.load("v2_runtime").functions if f.in_python}
    assert first - names == structs and names <= first


def test_names_follow_python_conventions(library):
    functions = [f.python_name for f in library.functions if f.in_python]
    assert len(set(functions)) == len(functions)
    assert [n for n in functions if not re.fullmatch(r"[a-z][a-z0-9_]*", n)] == []
    members = {m.name for e in library.enums for m in e.members}
    assert [n for n in members if not re.fullmatch(r"[A-Z_][A-Z0-9_]*", n)] == []
    names = [*library.exceptions, *(e.name for e in library.enums)]
    assert len(set(names)) == len(names)
    assert [n for n in library.exceptions if hasattr(builtins, n)] == []


def test_values_are_returned_and_failures_raise():
    assert runtime.get_device() == 0
    assert runtime.device_get_attribute(runtime.DeviceAttr.WARP_SIZE, 0) == 32
    with pytest.raises(runtime.InvalidDeviceError) as caught:
        runtime.set_device(99)
    assert str(caught.value) == "ERROR_INVALID_DEVICE (101)" and caught.value.status == 101
    assert isinstance(caught.value, runtime.CudaRuntimeError)


def test_the_last_error_is_returned():
    with pytest.raises(runtime.InvalidDeviceError):
        runtime.set_device(99)
    assert runtime.peek_at_last_error() == runtime.get_last_error() == 101
    assert runtime.get_last_error() == 0


def test_both_faces_accept_the_same_handles():
    stream = runtime.stream_create()
    code, priority = classic.cudaStreamGetPriority(stream)
    assert code == classic.cudaError_t.cudaSuccess
    assert priority == runtime.stream_get_priority(stream)
    assert runtime.stream_destroy(stream) is None


def test_bytes_are_copied_to_the_device_and_back():
    memory, readback = runtime.malloc(8), bytearray(8)
    runtime.memcpy(memory, b"12345678", 8, runtime.MemcpyKind.HOST_TO_DEVICE)
    runtime.memcpy(readback, memory, 8, runtime.MemcpyKind.DEVICE_TO_HOST)
    assert readback == b"12345678"
    with pytest.raises(ValueError, match="'src': expected a buffer of at least 8 bytes .'count'"):
        runtime.memcpy(memory, b"123", 8, runtime.MemcpyKind.HOST_TO_DEVICE)
    with pytest.raises(ValueError, match="argument 'dst': expected a contiguous writable buffer"):
        runtime.memcpy(b"12345678", memory, 8, runtime.MemcpyKind.DEVICE_TO_HOST)
    runtime.free(memory)


def test_structs_and_attributes_are_plain():
    properties = runtime.get_device_properties(0)
    assert properties.warp_size == 32 and isinstance(properties.name, str)
    pool = runtime.device_get_default_mem_pool(0)
    assert runtime.mem_pool_get_attribute(pool, runtime.MemPoolAttr.ATTR_RELEASE_THRESHOLD) >= 0
    with pytest.raises(TypeError, match="argument 'attr': Unsupported attribute"):
        runtime.mem_pool_get_attribute(pool, 99)
    graph = runtime.graph_create(0)
    assert list(runtime.graph_get_nodes(graph)) == []
    runtime.graph_destroy(graph)
