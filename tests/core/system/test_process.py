# SPDX-License-Identifier: Apache-2.0
"""Effects of the module on a process: imports, threads, forks, exit, and missing NVML."""

import os
import sys

import pytest
from cuda.core import emulation


def test_importing_loads_no_large_module_and_opens_nothing(run_python):
    code = """
import sys
before = set(sys.modules)
import cuda.core.system
new = set(sys.modules) - before
print(sorted(n for n in new if n.startswith("cuda.bindings")))
print([n for n in ("numpy", "enum", "ctypes", "typing", "cuda.pathfinder") if n in new])
from cuda.core.system import *
import cuda.core.system.typing
maps = open("/proc/self/maps").read()
print([n for n in ("libnvidia-ml", "libnvml", "libcuda.", "libcuda_em") if n in maps])
"""
    assert run_python(code).splitlines() == ["[]", "[]", "[]"]


def test_importing_is_quick(run_python):
    code = """
import sys, time
start_time = time.process_time()
import cuda.core.system
print(time.process_time() - start_time)
"""
    assert min(float(run_python(code)) for _ in range(5)) < 0.008


def test_threads_initialize_once(run_python):
    code = """
import threading
from cuda.core import system
from cuda.core.system import _nvml_context
names, initialized = [], []
begin = _nvml_context.nvml.init_v2
_nvml_context.nvml.init_v2 = lambda: (initialized.append(1), begin())
def ask():
    names.append(system.Device(index=0).name)
threads = [threading.Thread(target=ask) for _ in range(16)]
for t in threads: t.start()
for t in threads: t.join()
print(len(names), len(set(names)), len(initialized))
"""
    assert run_python(code).split() == ["16", "1", "1"]


def test_a_child_initializes_again(run_python):
    """An object of the parent stays usable, and the child does not free its events."""
    code = """
import os, gc
from cuda.core import system
from cuda.core.system import _nvml_context
device = system.Device(index=0)
events = device.register_events([])
uuid = device.uuid
if child := os.fork():
    _, status = os.waitpid(child, 0)
    print(os.waitstatus_to_exitcode(status), device.uuid == uuid)
    del events
else:
    assert not _nvml_context.is_initialized()
    child_device = system.Device(uuid=uuid)
    assert _nvml_context.is_initialized() and child_device.uuid == device.uuid
    assert child_device.memory_info.total > 0
    del events
    gc.collect()
    os._exit(7)
"""
    assert run_python(code).split() == ["7", "True"]


def test_a_fork_during_queries_of_other_threads_does_not_deadlock(run_python):
    code = """
import os, threading
from cuda.core import system
device = system.Device(index=0)
stop = []
def ask():
    while not stop:
        device.memory_info, device.temperature.get_sensor()
threads = [threading.Thread(target=ask, daemon=True) for _ in range(3)]
for t in threads: t.start()
ended = []
for _ in range(20):
    child = os.fork()
    if not child:
        ok = system.Device(index=0).memory_info.total > 0
        os._exit(0 if ok else 1)
    ended.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
stop.append(1)
print(set(ended))
"""
    assert run_python(code).strip() == "{0}"


def test_a_child_waits_while_threads_of_the_parent_wait(run_python):
    if not emulation.is_active():
        pytest.skip("only the emulator can post events")
    code = """
import os, threading
from cuda.core import emulation, system
device = system.Device(index=0)
began = threading.Barrier(4)
def wait():
    events = device.register_events("pstate")
    began.wait()
    events.wait()
for _ in range(3):
    threading.Thread(target=wait, daemon=True).start()
began.wait()
ended = []
for _ in range(5):
    child = os.fork()
    if not child:
        for _ in range(5):
            events = device.register_events("clock")
            emulation.post_event("clock")
            came = events.wait(5000).event_type
            del events
        os._exit(0 if came == "clock" else 1)
    ended.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
print(set(ended))
"""
    assert run_python(code).strip() == "{0}"


@pytest.mark.parametrize("wait", ["0", "5000"])
def test_a_process_exits_while_a_thread_waits(run_silently, wait):
    code = f"""
import threading
from cuda.core import system
events = system.Device(index=0).register_events([])
threading.Thread(target=events.wait, args=({wait},), daemon=True).start()
device = system.Device(index=0)
held = [device, device.memory_info, system.Device.get_all_devices(), events]
"""
    assert run_silently(code) == ""


def test_shutting_nvml_down_is_reported_and_recoverable(run_python):
    code = """
from cuda.bindings import nvml
from cuda.core import system
device = system.Device(index=0)
nvml.shutdown()
try:
    device.name
except system.UninitializedError as error:
    print("reported")
nvml.init_v2()
print(system.Device(index=0).name == device.name)
"""
    assert run_python(code).split() == ["reported", "True"]


NO_NVML = """
from cuda.core import Device, system
from cuda.pathfinder import DynamicLibNotFoundError
def outcome(call):
    try:
        return call()
    except Exception as error:
        return f"{type(error).__name__}/{isinstance(error, RuntimeError)}"
print(outcome(system.get_num_devices))
print(outcome(system.get_user_mode_driver_version))
for _ in range(2):
    print(outcome(lambda: system.Device(index=0)), outcome(system.get_nvml_version))
print(outcome(lambda: list(system.Device.get_all_devices())), outcome(system.get_driver_branch))
print(outcome(lambda: system.get_process_name(1)), outcome(lambda: system.register_events("bind")))
"""


@pytest.fixture
def run_without_driver(run_python):
    if os.path.exists("/dev/nvidiactl"):
        pytest.skip("this machine has a driver")
    return lambda code: run_python(code, HALFWARP_BACKEND="driver", LD_LIBRARY_PATH="")


def test_without_nvml_counts_come_from_cuda_and_other_calls_are_refused(run_without_driver):
    first, second, *other_lines = run_without_driver(NO_NVML).splitlines()
    assert first == "0"
    assert second == "RuntimeError/True"
    assert set(" ".join(other_lines).split()) == {"DynamicLibNotFoundError/True"}


def test_a_cuda_device_without_nvml_has_no_system_device(run_python):
    """Some containers have a driver without NVML."""
    if not emulation.is_active():
        pytest.skip("the driver of a GPU comes with NVML")
    code = """
from cuda.core import Device
from cuda.core.system import _nvml_context
from cuda.bindings import nvml
def fail():
    raise nvml.LibraryNotFoundError(12)
_nvml_context.nvml.init_v2 = fail
try:
    Device(0).to_system_device()
except RuntimeError as error:
    print(error)
from cuda.core import system
print(system.get_num_devices(), system.get_user_mode_driver_version())
"""
    first, second = run_python(code).splitlines()
    assert first.startswith("NVML has no device of the UUID ")
    assert second.startswith("1 (")


@pytest.fixture
def run_silently(run_python):
    """Return a function that runs a program and returns its stderr without notices."""
    import subprocess

    def run(code):
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, done.stderr
        lines = done.stderr.splitlines()
        return "\n".join(line for line in lines if "is emulated: " not in line)

    return run
