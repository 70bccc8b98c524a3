# SPDX-License-Identifier: Apache-2.0
"""A lone thread keeps the GIL during submissions and queries; any doubt makes them release it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ...threads import has_lock

ROOT = Path(__file__).parents[3]
HEAD = """
import ctypes, json, sys, threading, types
from cuda.bindings import driver
from cuda.core import CUDAError, Device
from tests.bindings.function_tables import slot

device = Device()
device.set_current()
stream = device.create_stream()
stream.sync()
query = slot("cuStreamQuery")
real = query.value
check = ctypes.cast(ctypes.pythonapi.PyGILState_Check, ctypes.c_void_p).value

def held():
    '''Return whether the core and the low layer hold the GIL during a query.'''
    query.value = check
    try:
        low = int(driver.cuStreamQuery(0)[0]) == 1
        try:
            stream.is_done
            return [False, low]
        except CUDAError:  # status 1: the GIL is held
            return [True, low]
    finally:
        query.value = real

results = [held()]
"""
TAIL = """
results.append(held())
stream.sync()
print(json.dumps(results))
"""

# Each ends the proof that no other thread can need the GIL.
DOUBTS = {
    "a second thread": "stop = threading.Event(); threading.Thread(target=stop.wait, daemon=True)"
    ".start()",
    "a host function": "stream.launch_host(lambda: None)",
    "a host function of the low layer": "driver.cuLaunchHostFunc(0, lambda data: None, None)",
    "a function pointer": "driver.cuUserObjectCreate(0, 0, 1, 1)",
    "a host node": "from cuda.core.graph import GraphDefinition\n"
    "GraphDefinition().callback(lambda: None)",
    "an unknown extension module": "module = types.ModuleType('foreign')\n"
    "module.__file__ = '/tmp/foreign.so'\n"
    "sys.modules['foreign'] = module",
    "an object in place of a module": "sys.modules['foreign'] = object()",
}

pytestmark = pytest.mark.skipif(not has_lock, reason="there is no lock")


def run(program):
    done = subprocess.run(
        [sys.executable, "-c", HEAD + program + TAIL],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_lone_thread_keeps_the_lock():
    assert run("import decimal, numpy") == [[True, True], [True, True]]


@pytest.mark.parametrize("doubt", DOUBTS)
def test_a_doubt_releases_the_lock(doubt):
    assert run(DOUBTS[doubt]) == [[True, True], [False, False]]


def test_a_thread_that_ended_is_no_doubt():
    thread = "thread = threading.Thread(target=int)\nthread.start()\nthread.join()"
    assert run(thread) == [[True, True], [True, True]]


def test_host_functions_run_while_a_lone_thread_polls_and_launches():
    program = """
calls = []
for number in range(100):
    stream.launch_host(lambda: calls.append(number))
    event = stream.record()
    while not event.is_done:
        pass
    stream.record(event)
stream.sync()
assert len(calls) == 100
"""
    assert run(program)[1] == [False, False]
