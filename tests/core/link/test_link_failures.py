# SPDX-License-Identifier: Apache-2.0
"""Each nvJitLink and driver call of a link fails once: nothing leaks."""

import os
import subprocess
import sys

import pytest
from cuda.bindings.nvjitlink import nvJitLinkError
from cuda.core import Linker, ObjectCode, Program

from ...programs.forking import FORK

PTX = """
.version 8.0
.target sm_75
.address_size 64
.visible .entry kernel() { ret; }
"""
NVJITLINK_CALLS = (
    "nvJitLinkCreate",
    "nvJitLinkAddData",
    "nvJitLinkComplete",
    "nvJitLinkGetLinkedCubinSize",
    "nvJitLinkGetLinkedCubin",
)
DRIVER_CALLS = ("cuLinkCreate", "cuLinkAddData", "cuLinkAddFile", "cuLinkComplete")
# Runs in a child process that cannot find nvJitLink.
ON_DRIVER = """
import gc, sys, warnings
warnings.simplefilter("ignore")
sys.modules["cuda.bindings.nvjitlink"] = None
from cuda.core import CUDAError, Device, Linker, ObjectCode, emulation
device = Device(0)
device.set_current()
PTX = {ptx!r}
path = {path!r}
open(path, "w").write(PTX)
def link():
    with Linker(ObjectCode.from_ptx(PTX), ObjectCode.from_ptx(path.replace("a.ptx", "b.ptx")),
                options={{"arch": "sm_75"}}) as linker:
        return linker.link("cubin")
open(path.replace("a.ptx", "b.ptx"), "w").write(PTX.replace("kernel", "other"))
"""


@pytest.fixture
def on_driver(emulation, tmp_path):
    """Run a script where the driver links, and return its output."""

    def run(script):
        text = ON_DRIVER.format(ptx=PTX, path=str(tmp_path / "a.ptx")) + script
        done = subprocess.run(
            [sys.executable, "-c", text],
            capture_output=True,
            text=True,
            env=os.environ,
            timeout=100,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.split("\n")[:-1]

    return run


def error_lines(done):
    """Return the stderr of a process without the notice of the emulator."""
    return [line for line in done.stderr.splitlines() if "CUDA is emulated" not in line]


@pytest.mark.parametrize("call", NVJITLINK_CALLS)
def test_a_failing_call_of_nvjitlink_is_raised_and_the_next_link_works(emulation, call):
    code = ObjectCode.from_ptx(PTX)
    with (
        emulation.inject(call, error=6),
        pytest.raises(nvJitLinkError, match=r"ERROR_INTERNAL \(6\)") as caught,
    ):
        Linker(code, options={"arch": "sm_75"}).link("cubin")
    assert any(call.removesuffix("Size") in note for note in caught.value.__notes__)
    assert Linker(code, options={"arch": "sm_75"}).link("cubin").code


def test_a_failed_query_of_the_result_can_be_repeated(emulation):
    with Linker(ObjectCode.from_ptx(PTX), options={"arch": "sm_75"}) as linker:
        with emulation.inject("nvJitLinkGetLinkedCubin", error=6), pytest.raises(nvJitLinkError):
            linker.link("cubin")
        assert linker.link("cubin").code


def test_a_failed_destruction_is_reported_and_not_repeated(emulation):
    linker = Linker(ObjectCode.from_ptx(PTX), options={"arch": "sm_75"})
    with emulation.inject("nvJitLinkDestroy", error=6), pytest.raises(nvJitLinkError):
        linker.close()
    linker.close()
    assert linker.is_closed


@pytest.mark.parametrize("call", DRIVER_CALLS)
def test_a_failing_call_of_the_driver_leaves_no_state(on_driver, call):
    lines = on_driver(f"""
with emulation.inject({call!r}, error="CUDA_ERROR_INVALID_VALUE"):
    try:
        link()
    except CUDAError as error:
        print(error.where)
gc.collect()
print(emulation.stats()["live"].get("link state", 0))
print(link().get_kernel("other").num_arguments)
""")
    assert lines == [call, "0", "0"]


def test_the_driver_reports_a_missing_symbol_in_error_and_log(on_driver):
    lines = on_driver("""
OPEN = PTX.replace("ret;", "call gone;\\nret;")
OPEN = OPEN.replace(".visible", ".extern .func gone();\\n.visible")
linker = Linker(ObjectCode.from_ptx(OPEN, name="caller"), options={"arch": "sm_75"})
for _ in range(2):
    try:
        linker.link("cubin")
    except CUDAError as error:
        text = str(error)
        print("Linker error log: " in text, "Undefined reference to 'gone' in 'caller'" in text)
linker.close()
print(linker.get_error_log().strip())
print(linker.is_closed, int(linker.handle), linker.backend)
""")
    assert lines[:2] == ["True True"] * 2
    assert lines[2] == "error   : Undefined reference to 'gone' in 'caller'"
    assert lines[3] == "True 0 driver"


def test_the_driver_links_the_inputs(on_driver):
    lines = on_driver("""
code = link()
print(sorted(code.kernels()))
for wrong in ("ptx", "ltoir"):
    try:
        Linker(ObjectCode.from_ptx(PTX), options={"arch": "sm_75"}).link(wrong)
    except ValueError as error:
        print(str(error)[:25])
try:
    Linker(ObjectCode.from_ltoir(b"x"), options={"arch": "sm_75"})
except ValueError as error:
    print(str(error)[:21])
""")
    assert lines == [
        "['kernel', 'other']",
        *["Unsupported target type: "] * 2,
        "Unknown code_type ass",
    ]


def test_the_driver_gets_no_damaged_input_and_its_handle_is_an_object(on_driver):
    lines = on_driver("""
from cuda.bindings.driver import CUlinkState
linker = Linker(ObjectCode.from_ptx(PTX), options={"arch": "sm_75"})
print(type(linker.handle) is CUlinkState, int(linker.handle) != 0)
linker.close()
print(type(linker.handle) is CUlinkState, int(linker.handle))
try:
    Linker(ObjectCode.from_cubin(b"\\x7fELF", name="short"), options={"arch": "sm_75"})
except CUDAError as error:
    print(error.name, error.where)
    print(str(error).splitlines()[-1])
""")
    assert lines[:3] == ["True True", "True 0", "CUDA_ERROR_INVALID_IMAGE cuLinkAddData"]
    text = "the ELF header has 64 bytes at offset 0, and the image has 4 bytes"
    assert "short" in lines[3] and text in lines[3]


def test_without_a_context_the_driver_linker_is_refused(on_driver):
    lines = on_driver("""
from cuda.bindings import driver
driver.cuCtxSetCurrent(0)
try:
    link()
except CUDAError as error:
    print(error.name, error.where)
""")
    assert lines == ["CUDA_ERROR_INVALID_CONTEXT cuLinkCreate"]


def test_a_linker_of_the_parent_is_refused_in_a_forked_child():
    script = (
        FORK
        + f"""
from cuda.core import Linker, ObjectCode, Program
code = ObjectCode.from_ptx({PTX!r})
linker = Linker(code, options={{"arch": "sm_75"}})
def child():
    try:
        linker.link("cubin")
    except RuntimeError as error:
        assert "before a fork" in str(error), error
    else:
        raise AssertionError("linked")
    linker.close()
    assert Linker(code, options={{"arch": "sm_75"}}).link("cubin").code
import os
number = os.fork()
if not number:
    child()
    os._exit(0)
assert os.waitpid(number, 0)[1] == 0
assert linker.link("cubin").code
"""
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=300
    )
    assert (done.returncode, error_lines(done)) == (0, [])


def test_a_process_that_exits_while_threads_link_exits_silently():
    script = f"""
import threading
from cuda.core import Linker, ObjectCode, Program
code = ObjectCode.from_ptx({PTX!r})
def work():
    while True:
        Linker(code, options={{"arch": "sm_75"}}).link("cubin")
first = Linker(code, options={{"arch": "sm_75"}})
first.link("cubin")
for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
for _ in range(5):
    first.get_error_log()
"""
    for _ in range(5):
        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, timeout=300
        )
        assert (done.returncode, error_lines(done)) == (0, [])


@pytest.mark.parametrize("arch", ["sm_1", "sm_9", "sm_05"])
def test_an_architecture_that_would_crash_the_process_is_refused(arch):
    code = ObjectCode.from_ptx(PTX.encode())
    with pytest.raises(nvJitLinkError, match=f"unrecognized architecture .-arch={arch}"):
        Linker(code, options={"arch": arch})
    with pytest.raises(nvJitLinkError, match="UNRECOGNIZED_ARCH"):
        Program(PTX, "ptx", {"arch": arch})


@pytest.mark.parametrize("arch", ["99", "banana", 90])
def test_an_architecture_without_prefix_is_refused_by_nvjitlink(arch):
    code = ObjectCode.from_ptx(PTX.encode())
    with pytest.raises(nvJitLinkError, match="UNRECOGNIZED_OPTION") as caught:
        Linker(code, options={"arch": arch})
    assert f"arch must be 'sm_NN' or 'compute_NN', got {arch!r}" in "".join(caught.value.__notes__)
