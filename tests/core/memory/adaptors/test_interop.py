# SPDX-License-Identifier: Apache-2.0
"""The functions that other libraries call for memory; tests/clients tests the libraries."""

import ctypes
import gc
import subprocess
import sys
import types
import weakref

import pytest
from cuda.core import (
    CallbackMemoryResource,
    DeviceMemoryResource,
    LimitingMemoryResource,
    ManagedMemoryResource,
    OutOfMemoryError,
    StatisticsMemoryResource,
    TrackingMemoryResource,
    interop,
)

from tests.threads import run_together


@pytest.fixture
def mr(device):
    return TrackingMemoryResource(DeviceMemoryResource(device))


def torch_functions(mr):
    """Return the functions as PyTorch finds and calls them: without the GIL."""
    path, allocate, free = interop.torch_allocator(mr)
    library = ctypes.CDLL(path)
    functions = getattr(library, allocate), getattr(library, free)
    functions[0].restype = ctypes.c_void_p
    functions[0].argtypes = [ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p]
    functions[1].argtypes = [ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p]
    functions[1].restype = None
    return functions


@pytest.fixture
def unbound_resources(monkeypatch):
    """Unbind resources from devices at the end of a test."""
    monkeypatch.setattr(interop, "_torch_resources", {})


class TestTorch:
    def test_memory_comes_from_the_resource(self, mr, stream, unbound_resources):
        allocate, free = torch_functions(mr)
        handle = int(stream.handle)
        address = allocate(4096, 0, handle)
        (record,) = mr.report_leaks()
        assert (record.address, record.size, record.stream) == (address, 4096, handle)
        free(address, 4096, 0, handle)
        assert mr.report_leaks() == []

    def test_a_null_stream_is_the_default_stream(self, mr, unbound_resources):
        allocate, free = torch_functions(mr)
        address = allocate(64, 0, None)
        assert address
        free(address, 64, 0, None)
        assert mr.report_leaks() == []

    def test_zero_bytes_have_no_address(self, mr, stream, unbound_resources):
        allocate, free = torch_functions(mr)
        assert allocate(0, 0, int(stream.handle)) is None
        free(None, 0, 0, int(stream.handle))
        gc.collect()
        assert mr.report_leaks() == []

    def test_the_last_resource_bound_to_a_device_is_used(
        self, device, mr, stream, unbound_resources
    ):
        allocate, free = torch_functions(mr)
        address = allocate(64, 0, int(stream.handle))
        other = StatisticsMemoryResource(DeviceMemoryResource(device))
        watched = weakref.ref(mr)
        torch_functions(other)
        assert len(mr.report_leaks()) == 1
        second = allocate(64, 0, int(stream.handle))
        assert other.statistics()["allocation_count.current"] == 1
        assert watched() is mr
        free(address, 64, 0, int(stream.handle))
        free(second, 64, 0, int(stream.handle))
        assert mr.report_leaks() == []

    def test_memory_without_a_device_serves_devices_without_a_resource(
        self, device, unbound_resources
    ):
        interop.torch_allocator(managed := StatisticsMemoryResource(ManagedMemoryResource()))
        assert managed.device_id == -1
        allocate, free = torch_functions(managed)
        address = allocate(64, 0, None)
        assert managed.statistics()["allocation_count.current"] == 1
        free(address, 64, 0, None)

    def test_a_thread_without_a_context(self, mr, in_new_thread, unbound_resources):
        """A thread of a backward pass, for example, has not used CUDA before."""
        allocate, free = torch_functions(mr)
        address = in_new_thread(lambda: allocate(64, 0, None))
        assert [record.address for record in mr.report_leaks()] == [address]
        in_new_thread(lambda: free(address, 64, 0, None))
        assert mr.report_leaks() == []

    def test_threads(self, mr, device, unbound_resources):
        allocate, free = torch_functions(mr)

        def work():
            device.set_current()
            with device.create_stream() as own:
                for size in range(1, 100):
                    free(allocate(size, 0, int(own.handle)), size, 0, int(own.handle))

        run_together(*[work] * 4)
        assert mr.report_leaks() == []

    def test_a_pending_exception_is_preserved(self, mr, stream, unbound_resources):
        allocate, free = torch_functions(mr)

        class Tensor:
            def __init__(self):
                self.address = allocate(64, 0, int(stream.handle))

            def __del__(self):
                free(self.address, 64, 0, int(stream.handle))

        with pytest.raises(AttributeError, match="nonsense"):
            _ = Tensor().nonsense
        gc.collect()
        assert mr.report_leaks() == []

    def test_a_failed_free_is_reported(self, stream, unbound_resources, monkeypatch):
        def fail(ptr, size, stream):
            raise ValueError("this one stays")

        messages = []
        monkeypatch.setattr(
            sys, "unraisablehook", lambda each: messages.append(str(each.exc_value))
        )
        allocate, free = torch_functions(CallbackMemoryResource(lambda *_: 4096, fail, device_id=0))
        free(allocate(64, 0, int(stream.handle)), 64, 0, int(stream.handle))
        assert messages == ["this one stays"]

    @pytest.mark.parametrize(
        ("call", "text"),
        [
            ("allocate(2000, 0, None)", "2000 bytes requested from a LimitingMemoryResource"),
            ("allocate(64, 7, None)", "PyTorch requests memory of device 7"),
        ],
    )
    def test_it_throws_an_exception_that_pytorch_shows(self, call, text):
        """Nothing catches it here, so the C++ runtime prints it and terminates the process."""
        done = subprocess.run(
            [sys.executable, "-c", THROWING.replace("CALL", call)], capture_output=True, text=True
        )
        assert done.returncode == -6, done.stderr
        assert "std::runtime_error" in done.stderr and text in done.stderr

    @pytest.mark.parametrize("call", ["atexit_free()", "tensor = Tensor()"])
    def test_exit_is_silent(self, run_python, call):
        run_python(THROWING.replace("CALL", call))


THROWING = """
import ctypes, sys
from cuda.core import Device, DeviceMemoryResource, LimitingMemoryResource
from cuda.core.interop import torch_allocator
device = Device(0)
device.set_current()
mr = LimitingMemoryResource(DeviceMemoryResource(device), 1000)
path, *names = torch_allocator(mr)
allocate, free = (getattr(ctypes.CDLL(path), name) for name in names)
allocate.restype = ctypes.c_void_p
allocate.argtypes = [ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p]
free.argtypes = [ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p]
allocation = allocate(64, 0, None)
def atexit_free():
    # Runs after interpreter exit, like destructors of static C++ objects.
    libc = ctypes.CDLL(None)
    address = ctypes.cast(free, ctypes.c_void_p).value
    libc.on_exit(ctypes.c_void_p(address), ctypes.c_void_p(allocation))
class Tensor:
    address, free = allocation, free
    def __del__(self):
        # Runs while modules are destroyed, like a tensor that a module holds.
        self.free(self.address, 64, 0, None)
CALL
"""


class FakeStream:
    def __init__(self, ptr):
        self.ptr = ptr


@pytest.fixture
def cupy(monkeypatch):
    """The only function of CuPy that is called."""
    module = types.ModuleType("cupy")
    module.cuda = types.SimpleNamespace(get_current_stream=lambda: module.current)
    monkeypatch.setitem(sys.modules, "cupy", module)
    return module


class TestCupy:
    def test_memory_is_ordered_on_the_current_stream(self, mr, stream, cupy):
        malloc, free = interop.cupy_allocator(mr)
        cupy.current = FakeStream(int(stream.handle))
        address = malloc(512, 0)
        assert isinstance(address, int)
        (record,) = mr.report_leaks()
        assert (record.address, record.size, record.stream) == (address, 512, int(stream.handle))
        watched = weakref.ref(cupy.current)
        cupy.current = FakeStream(0)
        assert watched() is not None  # if the memory is freed on this stream
        free(address, 0)
        assert mr.report_leaks() == [] and watched() is None

    def test_the_default_stream(self, mr, cupy):
        malloc, free = interop.cupy_allocator(mr)
        cupy.current = FakeStream(0)
        free(malloc(64, 0), 0)
        assert malloc(0, 0) == 0
        gc.collect()
        assert mr.report_leaks() == []

    def test_a_thread_without_a_context(self, mr, cupy, in_new_thread):
        malloc, free = interop.cupy_allocator(mr)
        cupy.current = FakeStream(0)
        address = in_new_thread(lambda: malloc(64, 0))
        in_new_thread(lambda: free(address, 0))
        assert mr.report_leaks() == []

    def test_another_device_is_refused(self, mr, cupy):
        malloc, _ = interop.cupy_allocator(mr)
        with pytest.raises(RuntimeError, match="memory of device 3, but .* on device 0"):
            malloc(64, 3)

    def test_an_error_propagates(self, mr, stream, cupy):
        malloc, _ = interop.cupy_allocator(LimitingMemoryResource(mr, 10))
        cupy.current = FakeStream(int(stream.handle))
        with pytest.raises(OutOfMemoryError):
            malloc(11, 0)

    def test_the_functions_retain_the_resource(self, device, stream, cupy):
        mr = StatisticsMemoryResource(DeviceMemoryResource(device))
        watched = weakref.ref(mr)
        malloc, free = interop.cupy_allocator(mr)
        cupy.current = FakeStream(int(stream.handle))
        address = malloc(64, 0)
        del mr, malloc
        gc.collect()
        assert watched() is not None
        free(address, 0)
        del free
        gc.collect()
        assert watched() is None


FUNCTIONS = ["cupy_allocator", "torch_allocator", "numba_memory_manager"]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_invalid_resource_is_refused(name):
    function = getattr(interop, name)
    with pytest.raises(TypeError, match=rf"{name}\(\) requires a MemoryResource, got str"):
        function("pool")
    host = CallbackMemoryResource(print, print, is_device_accessible=False)
    with pytest.raises(ValueError, match="requires device-accessible memory"):
        function(host)


def test_nothing_is_imported_before_the_first_call(run_python):
    code = """
import sys
import cuda.core.interop
print(sorted({"cupy", "torch", "numba", "numpy"} & set(sys.modules)))
"""
    assert run_python(code).strip() == "[]"


def test_the_public_names():
    assert sorted(FUNCTIONS) == interop.__all__
