# SPDX-License-Identifier: Apache-2.0
"""Calls that release the GIL: the slots hold a C function that reports whether it is held."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ...threads import has_lock

ROOT = Path(__file__).parents[3]
PROGRAM = """
import ctypes, json, threading
from cuda.bindings import nvml
from tests.bindings.function_tables import slot
from tests.libraries import is_installed

is_installed("nvml")  # opens the library: the first call would fill the table
check = ctypes.cast(ctypes.pythonapi.PyGILState_Check, ctypes.c_void_p).value
for name in ("nvmlDeviceGetCount_v2", "nvmlDeviceGetIndex", "nvmlShutdown"):
    slot(name).value = check

def is_held(function, **keywords):
    try:
        function(**keywords)
    except nvml.UninitializedError:  # status 1: the GIL is held
        return True
    return False

def look():
    return {
        "shared form": is_held(nvml.device_get_count_v2),
        "by record": is_held(nvml.device_get_index, device=1),
        "not brief": is_held(nvml.shutdown),
    }

stop = threading.Event()
thread = threading.Thread(target=stop.wait)
results = [look()]
thread.start()
results.append(look())
stop.set()
thread.join()
results.append(look())
print(json.dumps(results))
"""


@pytest.mark.skipif(not has_lock, reason="there is no lock")
def test_brief_calls_hold_the_gil_until_there_is_another_thread():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    alone, with_thread, afterwards = json.loads(done.stdout)
    assert alone == afterwards == {"shared form": True, "by record": True, "not brief": False}
    assert with_thread == {"shared form": False, "by record": False, "not brief": False}
