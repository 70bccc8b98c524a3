# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the emulator's tests."""

import ctypes
import os
import subprocess
import sys
import textwrap

import pytest

from .checks.seeds.raw_driver import Driver

# A driver that loads a kernel lazily waits for running kernels, and some here wait for the test.
os.environ.setdefault("CUDA_MODULE_LOADING", "EAGER")


@pytest.fixture
def emulated():
    """Skip the test on a GPU, whose driver lacks the emulator's additions."""
    from cuda.core import emulation

    if not emulation.is_active():
        pytest.skip("this is about what the emulator adds to the driver")
    return emulation


@pytest.fixture
def driver():
    """The driver, initialized, with the primary context of device 0 current."""
    raw = Driver()
    assert raw.cuInit(0) == 0
    context = raw.output("cuDevicePrimaryCtxRetain", 0)
    assert raw.cuCtxSetCurrent(context) == 0
    raw.context = context
    yield raw
    for module in raw.modules:
        raw.cuModuleUnload(module)
    raw.cuCtxSetCurrent(None)
    raw.cuDevicePrimaryCtxRelease(0)


@pytest.fixture
def flag(driver):
    """A pinned word that the latch kernel waits for; always released at the end."""
    address = driver.output("cuMemAllocHost", 4)
    word = ctypes.c_uint32.from_address(address)
    word.value = 0
    yield word
    word.value = 1
    driver.cuCtxSynchronize()
    driver.cuMemFreeHost(address)


@pytest.fixture
def stream(driver):
    """A non-blocking stream."""
    new_stream = driver.output("cuStreamCreate", 1)
    yield new_stream
    driver.cuStreamDestroy(new_stream)


@pytest.fixture
def run_emulated():
    """Run code in a fresh interpreter on the emulator: the completed process."""

    def run(code, *arguments, status=0, **options):
        environment = {
            k: v for k, v in os.environ.items() if not k.startswith("HALFWARP_EMULATOR_")
        }
        environment["HALFWARP_BACKEND"] = "emulator"
        environment |= {f"HALFWARP_EMULATOR_{k.upper()}": str(v) for k, v in options.items()}
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(code), *arguments],
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == status, done.stderr
        return done

    return run
