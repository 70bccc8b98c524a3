# SPDX-License-Identifier: Apache-2.0
"""Threads, forks and interpreter exit: no crash, no message, no leak."""

import gc

import pytest
from cuda.core import Device, Stream

from ..programs.forking import FORK
from ..threads import run_together
from .locks import operations
from .locks.operations import OPERATIONS

START = """
from cuda.core import Device, Event, Stream
device = Device(0)
device.set_current()
"""

# Programs that wait for five seconds at exit. They run beside the other tests of this file.
NEVER_RETURNING = {
    "python": "threading.Event().wait",
    "C": "ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: threading.Event().wait())",
}
HOST_CALL = """
import ctypes, threading
stream = device.create_stream()
began = threading.Event()
stream.launch_host(began.set)
stream.launch_host({function})
began.wait()
"""
LATE_COMPILATION = """
import atexit, threading
late = threading.Event()
def work():
    late.wait()
    try:
        Program("", "c++").compile("ptx")
    except RuntimeError as error:
        print(str(error)[:26])
thread = threading.Thread(target=work, daemon=True)
thread.start()
atexit.register(lambda: (late.set(), thread.join()))
from cuda.core import Program
"""

# name -> expression for an object that owns driver state
HOLDERS = {
    "pool buffer": "device.allocate(64, stream=stream)",
    "own pool": "DeviceMemoryResource(device, {})",
    "buffer of an own pool": "DeviceMemoryResource(device, {}).allocate(64, stream=stream)",
    "pinned buffer": "LegacyPinnedMemoryResource().allocate(64)",
    "view of a pinned buffer": "memoryview(LegacyPinnedMemoryResource().allocate(64))",
    "buffer without a pool": "_SynchronousMemoryResource(0).allocate(64, stream=stream)",
    "capsule": "device.allocate(64, stream=stream).__dlpack__()",
    "kernel": "ObjectCode.from_ptx(PTX).get_kernel('k')",
    "attributes": "ObjectCode.from_ptx(PTX).get_kernel('k').attributes",
    "prepared": "ObjectCode.from_ptx(PTX).get_kernel('k').prepare({'grid': 1, 'block': 1})",
    "program": "Program('', 'c++', ProgramOptions(arch='sm_90', debug=True))",
    "context": "device.context",
}
HOLD = """
from cuda.core import (
    DeviceMemoryResource, LegacyPinnedMemoryResource, ObjectCode, Program, ProgramOptions)
from cuda.core._memory import _SynchronousMemoryResource
PTX = b".version 8.0\\n.target sm_75\\n.address_size 64\\n.visible .entry k() { ret; }"
stream = device.create_stream()
held = [%s]
stream.sync()
"""


@pytest.fixture
def live_objects(emulation):
    """Return a count of live driver objects by kind, from the emulator."""

    def count():
        gc.collect()
        return emulation.stats()["live"]

    return count


COMPILATIONS = {
    "object layer": "Program(source, 'c++', ProgramOptions(arch='sm_90')).compile('ptx')",
    "nvrtc": "p = nvrtc.nvrtcCreateProgram(source.encode(), b'', 0, None, None)[1];"
    " nvrtc.nvrtcCompileProgram(p, 0, None); nvrtc.nvrtcDestroyProgram(p)",
    "nvvm": "p = nvvm.create_program(); nvvm.destroy_program(p)",
}


@pytest.fixture(scope="module", autouse=True)
def waiting(start_python):
    """Start the programs that wait; map a name to the function that returns the output."""
    finish = {"late": start_python(LATE_COMPILATION)}
    for name, function in NEVER_RETURNING.items():
        code = START + HOST_CALL.format(function=function)
        finish[name] = start_python(code, allowed=["emulator: "])
    return finish


class TestThreads:
    def test_objects_are_created_and_closed_on_many_threads(self, device):
        def work():
            own = Device(0)
            own.set_current()
            for _ in range(100):
                with own.create_stream() as stream, stream.record() as event:
                    stream.wait(event)
                    stream.sync()

        run_together(*[work] * 8)

    def test_one_stream_serves_many_threads(self, stream):
        def work():
            Device(0).set_current()
            for _ in range(50):
                stream.record().sync()
                assert Stream.from_handle(int(stream.handle)) == stream

        run_together(*[work] * 8)

    def test_one_object_can_be_closed_by_many_threads_concurrently(self, device):
        for _ in range(50):
            stream = device.create_stream()
            event = stream.record()

            def work(stream=stream, event=event):
                event.close()
                stream.close()

            run_together(*[work] * 4)
            assert stream.is_closed
            assert event.is_closed
        device.sync()

    def test_an_object_outlives_the_thread_that_created_it(self, in_new_thread):
        def make():
            Device(0).set_current()
            return Device(0).create_stream()

        stream = in_new_thread(make)
        stream.sync()
        stream.close()

    def test_the_first_use_can_be_on_many_threads_concurrently(self, run_python):
        code = """
import threading
from cuda.core import Device
barrier = threading.Barrier(16)
devices = []
def work():
    barrier.wait()
    device = Device(0)
    device.set_current()
    devices.append(device)
threads = [threading.Thread(target=work) for _ in range(16)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(len(devices), len(set(devices)), len({id(each) for each in devices}))
"""
        assert run_python(code).split() == ["16", "1", "16"]


class TestExit:
    @pytest.mark.parametrize(
        "code",
        [
            "stream = device.create_stream(); event = stream.record()",
            "import builtins; builtins.kept = device.create_stream().record()",
            "class Mine(Stream): pass\ns = Mine._init(); s.me = s",
            "import atexit; s = device.create_stream(); atexit.register(s.close)",
            "import weakref; s = device.create_stream(); weakref.finalize(s, print, end='')",
            "import sys; sys.exit(0)",
        ],
    )
    def test_live_objects_at_exit_print_nothing(self, run_python, code):
        run_python(START + code)

    @pytest.mark.parametrize("make", HOLDERS.values(), ids=HOLDERS)
    def test_owners_at_exit_print_nothing_even_in_a_cycle(self, run_python, make):
        run_python(START + HOLD % make + "held.append(held); import builtins; builtins.held = held")

    @pytest.mark.parametrize(
        "work",
        [
            "with device.create_stream() as stream: stream.record().sync()",
            "device.create_event()",
            "launch(shared, config, kernel)",
            "with suppress(CUDAError): device.memory_resource.allocate(1 << 60, stream=shared)",
            "with suppress(CUDAError): ObjectCode.from_ptx('no PTX').get_kernel('k')",
        ],
    )
    def test_daemon_threads_may_still_be_running(self, run_python, work):
        """Python ends daemon threads when they acquire the GIL, inside our C++ code."""
        code = f"""
import threading, time
from contextlib import suppress
from cuda.core import LaunchConfig, ObjectCode, launch
from cuda.core._utils.cuda_utils import CUDAError
ptx = ".version 8.0\\n.target sm_75\\n.address_size 64\\n.visible .entry k() {{ ret; }}\\n"
kernel, shared = ObjectCode.from_ptx(ptx).get_kernel("k"), device.create_stream()
config = LaunchConfig(grid=1, block=1)
launch(shared, config, kernel)
def work():
    device = Device(0)
    device.set_current()
    while True:
        {work}
for _ in range(3): threading.Thread(target=work, daemon=True).start()
time.sleep(0.05)
"""
        run_python(START + code, allowed=["emulator: "])

    @pytest.mark.parametrize("operation", [each.__name__ for each in OPERATIONS])
    def test_daemon_threads_may_be_in_any_operation(self, run_python, operation):
        code = f"""
import contextlib, runpy, threading, time, warnings
warnings.simplefilter("ignore")
known = runpy.run_path({operations.__file__!r})
ready = threading.Barrier(4)
def work():
    device = Device(0)
    device.set_current()
    fixtures = known["Fixtures"](device)
    ready.wait()
    while True:
        with contextlib.suppress(Exception):
            known[{operation!r}](fixtures)
for _ in range(3): threading.Thread(target=work, daemon=True).start()
ready.wait()
time.sleep(0.1)
"""
        run_python(START + code, allowed=["emulator: "])

    @pytest.mark.parametrize("function", NEVER_RETURNING)
    def test_a_host_call_that_never_returns_does_not_block_exit(self, waiting, function):
        waiting[function]()

    @pytest.mark.parametrize("compile", COMPILATIONS.values(), ids=COMPILATIONS)
    def test_daemon_threads_may_be_compiling(self, run_python, compile):
        """Destructors of a compiler library must not run while a thread uses the library."""
        code = f"""
import threading
source = "__global__ void k(int *p) {{ *p = 1; }}"
began = threading.Barrier(4)
def work():
    began.wait()
    while True:
        {compile}
for _ in range(3): threading.Thread(target=work, daemon=True).start()
from cuda.core import Program, ProgramOptions
from cuda.bindings import nvrtc, nvvm
began.wait()
import time; time.sleep(0.2)
"""
        for _ in range(3):
            run_python(code)

    def test_the_main_thread_can_compile_during_exit(self, run_python):
        code = """
import atexit
atexit.register(lambda: print(len(Program("", "c++").compile("ptx").code) > 0))
from cuda.core import Program
"""
        assert run_python(code).split() == ["True"]

    def test_a_late_compilation_is_refused(self, waiting):
        """Another thread may wait for this one, so it must not wait forever."""
        assert waiting["late"]() == "the interpreter is exiting\n"

    def test_a_handle_during_shutdown_is_none_or_a_handle(self, run_python):
        code = """
class Late:
    def __init__(self, stream):
        self.stream = stream
    def __del__(self):
        handle = self.stream.handle
        assert handle is None or int(handle) != 0
import builtins
builtins.late = Late(device.create_stream())
"""
        run_python(START + code)


# A driver has its own threads, which make Python 3.12 warn.
QUIET = ("-W", "ignore:This process:DeprecationWarning")


class TestFork:
    def test_a_child_does_not_destroy_objects_of_the_parent(self, run_python):
        """A driver call of the child would fail, and be reported on stderr."""
        code = """
stream = device.create_stream(); event = stream.record(); stream.sync()
def work():
    global stream, event
    stream.close()
    assert stream.is_closed
    del stream, event
in_child(work)
stream.sync()
"""
        run_python(START + FORK + code, *QUIET)

    @pytest.mark.parametrize("make", HOLDERS.values(), ids=HOLDERS)
    def test_a_child_frees_nothing_of_the_parent(self, run_python, make):
        code = """
def work():
    import gc
    if hasattr(held[0], "close"): held[0].close()
    held.clear()
    gc.collect()
in_child(work)
held.clear()
stream.sync()
"""
        run_python(START + FORK + HOLD % make + code, *QUIET)

    def test_a_child_shares_no_handle_with_the_parent(self, run_python):
        code = """
stream = device.create_stream(); stream.sync()
address = int(stream.handle)
def work():
    wrapper = Stream.from_handle(address)
    assert repr(wrapper).endswith("context=0x0>"), wrapper
in_child(work)
assert Stream.from_handle(address).context == device.context
"""
        run_python(START + FORK + code, *QUIET)

    @pytest.mark.parametrize("is_inside", [False, True], ids=["beside", "inside"])
    def test_a_child_forked_during_a_host_call_exits_immediately(self, run_python, is_inside):
        """The thread of the call does not exist in the child, so the child must not wait for it."""
        code = f"""
import threading, time
stream = device.create_stream()
began, go = threading.Event(), threading.Event()
pids = []
def call():
    began.set()
    if {is_inside}: fork()
    go.wait()
def fork():
    pids.append(os.fork())
    if pids[0] == 0:
        sys.exit(0) if not {is_inside} else os._exit(0)
stream.launch_host(call)
began.wait()
if not {is_inside}: fork()
while not pids: time.sleep(0.001)
_, status, usage = os.wait4(pids[0], 0)
assert os.waitstatus_to_exitcode(status) == 0
assert usage.ru_nvcsw < 300, "the child slept 500 times for 10 ms at its end"
go.set()
stream.sync()
"""
        run_python(START + FORK + code, *QUIET)

    def test_a_child_can_be_the_first_to_use_cuda(self, run_python):
        code = """
from cuda.core import Device
def work():
    device = Device(0)
    device.set_current()
    with device.create_stream() as stream:
        stream.record().sync()
in_child(work)
"""
        run_python(FORK + code, *QUIET)


class TestLeaks:
    def test_every_created_object_is_destroyed(self, device, live_objects):
        def use():
            with device.create_stream() as stream:
                stream.wait(stream.record())
                other = Stream.from_handle(int(stream.handle))
                other.wait(device.default_stream)
            device.create_event()
            other.sync()

        use()
        before = live_objects()
        for _ in range(100):
            use()
        assert live_objects() == before

    def test_failed_calls_leak_nothing(self, device, live_objects):
        def use():
            with pytest.raises(ValueError):
                device.create_stream(options={"priority": 99})
            with pytest.raises(TypeError):
                device.create_event({"ipc_enabled": True})
            with pytest.raises(TypeError):
                device.create_stream(object())

        use()
        before = live_objects()
        for _ in range(50):
            use()
        assert live_objects() == before
