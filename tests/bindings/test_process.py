# SPDX-License-Identifier: Apache-2.0
"""Threads, forks, exits and subinterpreters below the object layer; each case is a process."""

import os
import subprocess
import sys
import sysconfig
import textwrap
from pathlib import Path

import pytest

from ..programs.forking import FORK

MODES = {"emulator": {}, "null": {"HALFWARP_EMULATOR_MODE": "null"}}
NOTICES = ("halfwarp: ", "emulator: ")


def run(code, mode="emulator", timeout=300, **environment):
    """Return the lines that a fresh interpreter prints; it must succeed, in time, without stderr
    output."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("HALFWARP_")}
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", textwrap.dedent(code)],
        env={**inherited, "HALFWARP_BACKEND": "emulator", **MODES[mode], **environment},
        capture_output=True,
        text=True,
        timeout=timeout,
    )
    assert done.returncode == 0, done.stderr
    warned = "DeprecationWarning", "os.fork"  # warning of a fork beside threads
    complaints = [line for line in done.stderr.splitlines() if not line.startswith(NOTICES)]
    complaints = [line for line in complaints if not any(word in line for word in warned)]
    assert complaints == []
    return done.stdout.splitlines()


both_modes = pytest.mark.parametrize("mode", MODES)

START = """
from cuda.bindings import driver
import ctypes, threading

def checked(result):
    assert result[0] == 0, result
    return result[-1]

checked(driver.cuInit(0))
context = checked(driver.cuDevicePrimaryCtxRetain(0))
checked(driver.cuCtxSetCurrent(context))
stream = checked(driver.cuStreamCreate(1))

def host_function(function):
    callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda data: function())
    address = ctypes.cast(callback, ctypes.c_void_p).value
    return callback, driver.CUhostFn(address)
"""


class TestThreads:
    @both_modes
    def test_many_threads_may_make_the_first_use_of_everything(self, mode):
        code = """
        import importlib, threading
        names = "driver", "nvrtc"
        modules = [importlib.import_module(f"cuda.bindings.{name}") for name in names]
        driver, nvrtc = modules
        uses = [
            lambda: driver.cuInit(0)[0],
            lambda: driver.cuDriverGetVersion()[0],
            lambda: driver.CUresult(0),
            lambda: driver.cuDeviceGetAttribute(driver.CUdevice_attribute(1), 0)[0],
            lambda: driver.CUuuid() and driver.cuDeviceGetUuid(0)[0],
            lambda: nvrtc.nvrtcVersion()[0],
            lambda: nvrtc.nvrtcGetSupportedArchs()[0],
            lambda: driver.CUstream(1) == driver.CUstream(1),
        ] * 4
        start, seen = threading.Barrier(len(uses)), []
        def work(use):
            start.wait()
            seen.append(use())
        threads = [threading.Thread(target=work, args=(use,)) for use in uses]
        [t.start() for t in threads]; [t.join() for t in threads]
        print(len(seen), [s for s in seen if int(s) not in (0, 1, 3)])
        """
        assert run(code, mode) == ["32 []"]

    def test_waiting_calls_leave_the_gil_to_python_callbacks(self):
        """Each call waits for a callback that needs the GIL; none may keep it."""
        code = (
            START
            + """
event = checked(driver.cuEventCreate(0))
waits = [
    lambda own, memory: driver.cuStreamSynchronize(own),
    lambda own, memory: driver.cuCtxSynchronize(),
    lambda own, memory: driver.cuEventRecord(event, own) and driver.cuEventSynchronize(event),
    lambda own, memory: driver.cuMemcpyDtoH(bytearray(64), memory, 64),
    lambda own, memory: driver.cuMemcpy(memory, memory, 64),
    lambda own, memory: driver.cuMemsetD8(memory, 0, 64),
    lambda own, memory: driver.cuMemFree(memory),
    lambda own, memory: driver.cuMemFreeAsync(memory, own),
    lambda own, memory: driver.cuStreamDestroy(own),
    lambda own, memory: driver.cuDevicePrimaryCtxReset(0),
]
for wait in waits:
    own = checked(driver.cuStreamCreate(0))
    memory = checked(driver.cuMemAllocAsync(64, own))
    ran = threading.Event()
    keep, function = host_function(ran.set)
    checked(driver.cuLaunchHostFunc(own, function, None))
    checked(wait(own, memory))
    print(int(ran.wait(60)), end="")
"""
        )
        assert run(code) == ["1" * 10]

    def test_callbacks_and_calls_of_many_threads_do_not_deadlock(self):
        code = (
            START
            + """
def work():
    driver.cuCtxSetCurrent(context)
    own = checked(driver.cuStreamCreate(1))
    for _ in range(50):
        keep, function = host_function(lambda: driver.cuDriverGetVersion())
        checked(driver.cuLaunchHostFunc(own, function, None))
        driver.cuStreamQuery(own)
        checked(driver.cuStreamSynchronize(own))
threads = [threading.Thread(target=work) for _ in range(8)]
[t.start() for t in threads]; [t.join() for t in threads]
print("done")
"""
        )
        assert run(code) == ["done"]


class TestExit:
    @both_modes
    @pytest.mark.parametrize(
        "code",
        [
            "import atexit; atexit.register(driver.cuCtxSynchronize)",
            "import builtins; builtins.params = driver.CUDA_MEMCPY2D(srcHost=bytearray(8))",
            "import sys; sys.exit(0)",
            "import weakref; s = driver.CUuuid(); class_ = type('S', (driver.CUuuid,), {});"
            " late = class_(); weakref.finalize(late, driver.cuStreamQuery, stream)",
        ],
        ids=["atexit", "kept struct", "sys.exit", "finalizer"],
    )
    def test_live_objects_at_exit_print_nothing(self, mode, code):
        run(START + code, mode)

    @both_modes
    def test_calls_of_finalized_modules_return_or_raise(self, mode):
        code = (
            START
            + """
class Late:
    def __init__(self):
        self.calls = driver.cuStreamQuery, driver.cuMemAlloc, driver.CUstream, driver.CUresult
    def __del__(self, stream=stream):
        query, allocate, handle, result = self.calls
        query(stream), allocate(16), handle(5), result(1), repr(handle(5)), repr(result(1))
import sys
late = Late()
sys.modules["late"] = Late()
"""
        )
        run(code, mode)

    @both_modes
    def test_a_daemon_thread_may_still_be_calling_at_exit(self, mode):
        code = (
            START
            + """
started = threading.Event()
def work():
    driver.cuCtxSetCurrent(context)
    while True:
        own = driver.cuStreamCreate(1)[1]
        driver.cuStreamSynchronize(own)
        driver.cuStreamDestroy(own)
        started.set()
threading.Thread(target=work, daemon=True).start()
started.wait()
"""
        )
        run(code, mode)

    def test_a_callback_may_be_running_while_the_interpreter_finalizes(self):
        """A thread that waits for the GIL then would be terminated inside the driver."""
        code = (
            START
            + """
began = threading.Event()
def busy():
    began.set()
    for _ in range(200_000):
        pass
callbacks = [host_function(busy) for _ in range(40)]
for _, function in callbacks:
    checked(driver.cuLaunchHostFunc(stream, function, None))
began.wait()
"""
        )
        for _ in range(5):
            run(code)

    def test_callbacks_that_never_ran_neither_leak_nor_crash(self):
        code = (
            START
            + """
callbacks = [host_function(lambda: None) for _ in range(1000)]
for _, function in callbacks:
    checked(driver.cuLaunchHostFunc(stream, function, None))
"""
        )
        run(code)


class TestFork:
    @both_modes
    def test_a_child_may_be_the_first_to_call(self, mode):
        code = (
            FORK
            + """
def work():
    from cuda.bindings import driver, nvrtc
    assert driver.cuInit(0) == (driver.CUresult.CUDA_SUCCESS,)
    assert nvrtc.nvrtcVersion()[0] == 0
in_child(work)
print("done")
"""
        )
        assert run(code, mode) == ["done"]

    def test_a_child_of_a_process_that_used_the_driver_is_refused_at_each_call(self):
        code = (
            START
            + FORK
            + """
codes = set()
def work():
    for call in (
        lambda: driver.cuInit(0),
        lambda: driver.cuStreamSynchronize(stream),
        lambda: driver.cuMemAlloc(16),
        lambda: driver.cuCtxSynchronize(),
        lambda: driver.cuStreamDestroy(stream),
        lambda: driver.cuDeviceGet(0),
    ):
        codes.add(call()[0].name)
    print(sorted(codes), flush=True)
    assert driver.cuDriverGetVersion()[0] == 0
    assert driver.CUstream(3) == driver.CUstream(3)
in_child(work)
checked(driver.cuStreamSynchronize(stream))
"""
        )
        assert run(code) == ["['CUDA_ERROR_NOT_INITIALIZED']"]

    def test_a_child_compiles_with_a_library_opened_by_its_parent(self):
        code = (
            """
from cuda.bindings import nvrtc
assert nvrtc.nvrtcVersion()[0] == 0
"""
            + FORK
            + """
def work():
    program = nvrtc.nvrtcCreateProgram(b"__global__ void f() {}", b"f.cu", 0, [], [])[1]
    assert nvrtc.nvrtcCompileProgram(program, 0, []) == (nvrtc.nvrtcResult.NVRTC_SUCCESS,)
in_child(work)
print("done")
"""
        )
        assert run(code) == ["done"]

    def test_a_fork_while_a_thread_opens_the_driver_leaves_no_lock_held(self, small_driver):
        opening = (
            "#include <stdlib.h>\n#include <unistd.h>\n"
            "__attribute__((constructor)) static void slow(void) {"
            ' (void)!write(atoi(getenv("OPENING")), "x", 1); usleep(300000); }'
        )
        folder = small_driver(further=opening)
        code = (
            FORK
            + """
import threading
read, write = os.pipe()
os.environ["OPENING"] = str(write)
from cuda.bindings import driver
thread = threading.Thread(target=driver.cuInit, args=(0,))
thread.start()
os.read(read, 1)
in_child(lambda: driver.cuInit(0))
thread.join()
print(driver.cuInit(0)[0] == 0)
"""
        )
        settings = {"HALFWARP_BACKEND": "driver", "LD_LIBRARY_PATH": str(folder)}
        assert run(code, **settings) == ["True"]

    @pytest.mark.parametrize("by", ["the thread itself", "a thread of the driver"])
    def test_a_driver_may_fork_during_its_initialization(self, small_driver, by):
        """NVIDIA's driver forks for system programs, while `auto` checks whether it is usable."""
        helper = "pthread_t t; pthread_create(&t, 0, make, 0); pthread_join(t, 0);"
        starting = f"""
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static void* make(void* nothing) {{
  pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, 0, 0);
  return 0;
}}
static int start(void) {{ {"make(0);" if by == "the thread itself" else helper} return 0; }}
"""
        folder = small_driver(status="start()", further=starting)
        code = (
            FORK
            + """
from cuda.bindings import driver
print(driver.cuInit(0)[0] == 0)
in_child(lambda: driver.cuInit(0))
"""
        )
        settings = {"HALFWARP_BACKEND": "auto", "LD_LIBRARY_PATH": str(folder)}
        assert run(code, timeout=300, **settings) == ["True"]


class TestLibraries:
    def test_a_library_that_appears_later_is_found(self):
        code = """
        import cuda.pathfinder as pathfinder
        real = pathfinder.load_nvidia_dynamic_lib
        def nothing(name):
            raise pathfinder.DynamicLibNotFoundError(f"no {name}")
        pathfinder.load_nvidia_dynamic_lib = nothing
        from cuda.bindings import nvrtc
        for attempt in range(2):
            try:
                nvrtc.nvrtcVersion()
            except pathfinder.DynamicLibNotFoundError as error:
                print(str(error)[:14])
        pathfinder.load_nvidia_dynamic_lib = real
        print(int(nvrtc.nvrtcVersion()[0]))
        """
        assert run(code) == ["nvrtcVersion()", "nvrtcVersion()", "0"]

    def test_a_package_installed_later_is_found(self, tmp_path):
        code = """
        import os, site, sys
        folder, real = sys.argv[1:]
        site.getsitepackages = lambda *prefixes: [folder]
        from cuda.bindings import nvfatbin
        for attempt in range(2):
            try:
                nvfatbin.version()
            except RuntimeError as error:
                print("nvidia-nvfatbin" in str(error))
        os.makedirs(os.path.join(folder, "nvidia"))
        os.symlink(real, os.path.join(folder, "nvidia", "cu13"))
        print(nvfatbin.version()[0] >= 12)
        """
        installed = Path(sysconfig.get_path("purelib"), "nvidia", "cu13")
        if not list(installed.glob("lib/libnvfatbin.so.*")):
            pytest.skip("nvFatbin is not installed as a package")
        run_with = textwrap.dedent(code).replace(
            "sys.argv[1:]", repr((str(tmp_path), str(installed)))
        )
        hidden = dict.fromkeys(["CUDA_HOME", "CUDA_PATH", "LD_LIBRARY_PATH"], "")
        assert run(run_with, **hidden) == ["True", "True", "True"]


class TestInterpreters:
    @pytest.mark.skipif(sys.version_info < (3, 12), reason="no interpreter of its own lock before")
    @pytest.mark.parametrize("module", ["_low", "driver", "cydriver"])
    def test_a_subinterpreter_is_refused(self, module):
        source = f"""
try:
    import cuda.bindings.{module}
    print("imported", flush=True)
except ImportError as error:
    print("ImportError", "interpreter" in str(error), flush=True)
"""
        code = f"""
import cuda.bindings.driver
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
other = interpreters.create()
answer = interpreters.run_string(other, {source!r})
assert answer is None, answer
interpreters.destroy(other)
"""
        assert run(code) == ["ImportError True"]
