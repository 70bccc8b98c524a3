# SPDX-License-Identifier: Apache-2.0
"""Handles that a program read stay valid: it may use them after our objects, or unload them."""

import functools
import gc
import threading

import pytest
from cuda.bindings import driver
from cuda.core import LaunchConfig, ObjectCode, host_launch, launch

HEAD = ".version 8.0\n.target sm_75\n.address_size 64\n"
PTX = f"{HEAD}.visible .entry f() {{ ret; }}\n"


@pytest.fixture
def emulated(emulation):
    """The emulator, which reports uses of destroyed handles."""
    return emulation


def succeed(result):
    error, *results = result
    assert error == driver.CUresult.CUDA_SUCCESS
    return results[0] if results else None


def library_of_code(code):
    return code.handle


def library_of_kernel(code):
    return succeed(driver.cuKernelGetLibrary(code.get_kernel("f").handle))


def library_of_wrapper(code):
    from cuda.core import Kernel

    kernel = code.get_kernel("f")
    return succeed(driver.cuKernelGetLibrary(Kernel.from_handle(int(kernel._handle)).handle))


WAYS = [library_of_code, library_of_kernel, library_of_wrapper]


@pytest.mark.parametrize("get_library", WAYS)
def test_the_handle_outlives_the_wrappers(device, get_library):
    code = ObjectCode.from_ptx(PTX)
    library = get_library(code)
    del code
    gc.collect()
    kernel = succeed(driver.cuLibraryGetKernel(library, b"f"))
    succeed(driver.cuLaunchKernel(int(kernel), 1, 1, 1, 1, 1, 1, 0, 0, 0, 0))
    succeed(driver.cuCtxSynchronize())
    succeed(driver.cuLibraryUnload(library))


@pytest.mark.parametrize("get_library", WAYS)
def test_a_library_that_a_program_unloads_is_not_unloaded_twice(emulated, get_library):
    code = ObjectCode.from_ptx(PTX)
    library = get_library(code)
    before = len(emulated.faults())
    succeed(driver.cuLibraryUnload(library))
    del code  # a warning would fail the test
    gc.collect()
    assert len(emulated.faults()) == before


def test_a_reused_handle_belongs_to_the_new_kernel(device):
    """A driver may reuse the handle of an unloaded library for a library that is loaded later."""
    refs = []
    for count in [0, 3, 1, 14, 2] * 4:
        parameters = ", ".join(f".param .u32 p{i}" for i in range(count))
        code = ObjectCode.from_ptx(f"{HEAD}.visible .entry f({parameters}) {{ ret; }}\n")
        kernel = code.get_kernel("f")
        assert kernel.num_arguments == count
        refs += [code, kernel]
        succeed(driver.cuLibraryUnload(code.handle))


def test_the_module_outlives_the_wrappers(device):
    code = ObjectCode.from_ptx(PTX)
    module, library = code.get_module(), code.handle
    del code
    gc.collect()
    assert int(succeed(driver.cuModuleGetFunction(module, b"f"))) != 0
    succeed(driver.cuLibraryUnload(library))


def test_without_a_read_handle_the_last_owner_unloads(emulated, device, stream):
    def libraries():
        return sum(leak.kind == "library" for leak in emulated.leaks())

    before = libraries()
    code = ObjectCode.from_ptx(PTX)
    kernel = code.get_kernel("f")
    kernel.prepare(LaunchConfig(grid=1, block=1))(stream)
    stream.sync()
    assert libraries() == before + 1
    del code
    gc.collect()
    assert libraries() == before + 1
    del kernel
    gc.collect()
    assert libraries() == before


def test_releasing_a_library_waits_for_no_work(device, stream):
    """The driver unloads when all work has completed, and this thread may hold some of it up."""
    go = threading.Event()
    kernel = ObjectCode.from_ptx(PTX).get_kernel("f")
    launch(stream, LaunchConfig(grid=1, block=1), kernel)
    stream.sync()  # a driver that loads a kernel at its first launch also waits for work
    host_launch(stream, functools.partial(go.wait, 30))
    launch(stream, LaunchConfig(grid=1, block=1), kernel)
    del kernel
    gc.collect()
    assert not stream.is_done
    go.set()
    device.sync()


def test_synchronizing_the_device_unloads(emulated, device):
    """Otherwise a program that compiles continuously would never unload."""

    def unloaded():
        return emulated.stats()["calls"].get("cuLibraryUnload", 0)

    ObjectCode.from_ptx(PTX).get_kernel("f")
    gc.collect()
    before = unloaded()
    device.sync()
    assert unloaded() > before
    before = unloaded()
    for _ in range(100):
        ObjectCode.from_ptx(PTX).get_kernel("f")
    assert 50 < unloaded() - before < 100
