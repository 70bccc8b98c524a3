# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the tests of the emulated NVML."""

import pytest

TALK = """
import ctypes as c, os, sys
from cuda.core.emulation import library as own
lib = c.CDLL(str(own.management_path()))
u, handle = c.c_uint, c.c_void_p
def ask(name, *arguments):
    return getattr(lib, name)(*arguments)
def out(kind=u):
    return kind()
def device(index=0):
    match = handle()
    assert ask("nvmlDeviceGetHandleByIndex_v2", u(index), c.byref(match)) == 0
    return match
"""


@pytest.fixture
def talk(run_emulated):
    return lambda code, **options: run_emulated(TALK + code, **options).stdout.split()
