# SPDX-License-Identifier: Apache-2.0
"""When calls give the interpreter lock back: a C function that tells stands in their slots."""

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

is_installed("nvml")  # opens it: the first call would fill the table
check = ctypes.cast(ctypes.pythonapi.PyGILState_Check, ctypes.c_void_p).value
for name in ("nvmlDeviceGetCount_v2", "nvmlDeviceGetIndex", "nvmlShutdown"):
    slot(name).value = check

def is_held(function, **keywords):
    try:
        function(**keywords)
    except nvml.UninitializedError:  # status 1: held
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
found = [look()]
thread.start()
found.append(look())
stop.set()
thread.join()
found.append(look())
print(json.dumps(found))
"""


@pytest.mark.skipif(not has_lock, reason="there is no lock")
def test_brief_calls_hold_the_lock_until_there_is_another_thread():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    alone, beside, again = json.loads(done.stdout)
    assert alone == again == {"shared form": True, "by record": True, "not brief": False}
    assert beside == {"shared form": False, "by record": False, "not brief": False}
