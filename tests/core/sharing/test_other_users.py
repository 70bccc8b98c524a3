# SPDX-License-Identifier: Apache-2.0
"""Descriptors in a process of another user: refused by name, and all other calls work."""

import os
import pickle
import subprocess
import sys

import pytest
from cuda.bindings import driver
from cuda.core import EventOptions

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can change the user")

# Modules are imported first, because the other user may not be able to read them.
ANOTHER_USER = """
import os, pickle, sys
from contextlib import suppress
from cuda.core import CUDAError, Device, Event
from cuda.bindings import driver
event, memory = pickle.loads(bytes.fromhex(sys.argv[1]))
device = Device(0)
device.set_current()
for wrong in (type(event)._init(bytes(64), False), None):
    with suppress(RuntimeError, TypeError):
        Event.from_ipc_descriptor(wrong)
os.setgroups([]); os.setgid(65534); os.setuid(65534)
try:
    Event.from_ipc_descriptor(event)
except RuntimeError as error:
    print(error)
handle = driver.CUipcMemHandle()
handle.reserved = memory
print(int(driver.cuIpcOpenMemHandle(handle, 1)[0]))
device.create_stream().sync()
print("usable")
"""


def test_another_user_can_open_neither_event_nor_memory(device, stream, emulation):

    error, address = driver.cuMemAlloc(64)
    assert not error
    error, handle = driver.cuIpcGetMemHandle(address)
    assert not error
    with stream.record(options=EventOptions(ipc_enabled=True)) as event:
        payload = pickle.dumps((event.ipc_descriptor, bytes(handle.reserved))).hex()
        done = subprocess.run(
            [sys.executable, "-c", ANOTHER_USER, payload],
            env=os.environ | {"HALFWARP_BACKEND": "emulator"},
            capture_output=True,
            text=True,
            timeout=300,
        )
    assert done.returncode == 0, done.stderr
    output = done.stdout.splitlines()
    assert output[0].startswith("Failed to open IPC event handle: CUDA_ERROR_NOT_PERMITTED")
    assert "it belongs to another user (Permission denied)" in done.stdout
    assert output[-2:] == [str(int(driver.CUresult.CUDA_ERROR_NOT_PERMITTED)), "usable"]
    assert driver.cuMemFree(address)[0] == 0
