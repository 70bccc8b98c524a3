# SPDX-License-Identifier: Apache-2.0
"""Whoever reads `handle` may use it when our objects are gone, or unload the library himself."""

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
    """The emulator, which says what is used after its end."""
    return emulation


def succeed(answer):
    error, *results = answer
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


@pytest.mark.parametrize("way", WAYS)
def test_the_handle_outlives_our_objects(device, way):
    code = ObjectCode.from_ptx(PTX)
    library = way(code)
    del code
    gc.collect()
    kernel = succeed(driver.cuLibraryGetKernel(library, b"f"))
    succeed(driver.cuLaunchKernel(int(kernel), 1, 1, 1, 1, 1, 1, 0, 0, 0, 0))
    succeed(driver.cuCtxSynchronize())
    succeed(driver.cuLibraryUnload(library))


@pytest.mark.parametrize("way", WAYS)
def test_a_program_that_unloads_is_not_repeated(emulated, way):
    code = ObjectCode.from_ptx(PTX)
    library = way(code)
    before = len(emulated.faults())
    succeed(driver.cuLibraryUnload(library))
    del code  # a warning would fail the test
    gc.collect()
    assert len(emulated.faults()) == before


def test_a_handle_that_comes_again_is_another_kernels(device):
    """A driver may give a library that is loaded later the handle of one that was unloaded."""
    kept = []
    for count in [0, 3, 1, 14, 2] * 4:
        parameters = ", ".join(f".param .u32 p{i}" for i in range(count))
        code = ObjectCode.from_ptx(f"{HEAD}.visible .entry f({parameters}) {{ ret; }}\n")
        kernel = code.get_kernel("f")
        assert kernel.num_arguments == count
        kept += [code, kernel]
        succeed(driver.cuLibraryUnload(code.handle))


def test_the_module_outlives_our_objects(device):
    code = ObjectCode.from_ptx(PTX)
    module, library = code.get_module(), code.handle
    del code
    gc.collect()
    assert int(succeed(driver.cuModuleGetFunction(module, b"f"))) != 0
    succeed(driver.cuLibraryUnload(library))


def test_without_a_handle_the_last_holder_unloads(emulated, device, stream):
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


def test_letting_go_waits_for_no_work(device, stream):
    """The driver unloads when all work is done, some of which may wait for this thread."""
    go = threading.Event()
    kernel = ObjectCode.from_ptx(PTX).get_kernel("f")
    launch(stream, LaunchConfig(grid=1, block=1), kernel)
    stream.sync()  # a driver that loads a kernel when it is launched first waits for work, too
    host_launch(stream, functools.partial(go.wait, 30))
    launch(stream, LaunchConfig(grid=1, block=1), kernel)
    del kernel
    gc.collect()
    assert not stream.is_done
    go.set()
    device.sync()


def test_waiting_for_the_device_unloads(emulated, device):
    """Without it, a program that compiles all the time unloads as it loads."""

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
