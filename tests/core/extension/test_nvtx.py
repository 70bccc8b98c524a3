# SPDX-License-Identifier: Apache-2.0
"""HALFWARP_NVTX=1: ranges around public calls, through a profiler's injection library."""

import os
import shutil
import subprocess
from types import SimpleNamespace

import pytest
from cuda.core.extension import nvtx

PROFILER = r"""
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
typedef void (*function)(void);
typedef struct { size_t size; int (*get)(int, function***, unsigned*); } callbacks;
typedef struct { size_t size; uint32_t version, reserved; void (*set)(uint32_t); } version;
static int depth;
static int push(const char* name) {
  printf("%d %s\n", depth, name);
  fflush(stdout);
  return depth++;
}
static int pop(void) { return --depth; }
int InitializeInjectionNvtx2(const void* (*table)(uint32_t)) {
  const version* about = table(3);
  if (getenv("DECLINES") || about->version != 3 || table(77)) return 0;
  if (about->size != sizeof(version) || about->reserved != 0) return 0;
  about->set(3);
  const callbacks* found = table(1);
  function** slots;
  unsigned count;
  if (found->size != sizeof(callbacks) || found->get(1, NULL, NULL) != 1) return 0;
  if (found->get(2, &slots, &count) != 0 || !found->get(1, &slots, &count) || count != 16) return 0;
  if (slots[0] != NULL || slots[15] == NULL) return 0;
  for (unsigned i = 2; i < count; ++i) {
    if ((char*)slots[i] - (char*)slots[i - 1] != sizeof(function) || *slots[i] != NULL) return 0;
  }
  if (!getenv("ONLY_POPS")) *slots[9] = (function)push;
  *slots[11] = (function)pop;
  return 1;
}
"""
PROGRAM = """
import contextlib
from cuda.core import Device, LaunchConfig, ObjectCode, Stream, launch
device = Device(0)
device.set_current()
stream = device.create_stream()
code = b".version 8.0\\n.target sm_75\\n.address_size 64\\n.visible .entry f() { ret; }"
kernel = ObjectCode.from_ptx(code).get_kernel("f")
launch(stream, LaunchConfig(grid=1, block=1), kernel)
with device.create_stream() as other:
    prepared = kernel.prepare(LaunchConfig(grid=1, block=1))
    prepared(other)
    prepared(stream=other)
stream.sync()
start, end = (stream.record(options={"timing_enabled": True}) for _ in range(2))
end.sync()
assert end - start >= 0
with contextlib.suppress(TypeError):
    start - 1
try:
    Stream.sync(3)
except TypeError as error:
    print("TypeError")
"""


@pytest.fixture(scope="module")
def profiler(tmp_path_factory):
    """A library that prints the names of ranges when they begin."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler to build the profiler library")
    folder = tmp_path_factory.mktemp("nvtx")
    source = folder / "profiler.c"
    source.write_text(PROFILER)
    library = folder / "profiler.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-w", "-o", library, source], check=True)
    return os.fspath(library)


def test_public_calls_are_ranges(run_python, profiler):
    lines = run_python(PROGRAM, HALFWARP_NVTX="1", NVTX_INJECTION64_PATH=profiler).splitlines()
    for name in ("Device.set_current", "Device.create_stream", "ObjectCode.get_kernel", "launch"):
        assert f"0 {name}" in lines
    assert lines.count("0 PreparedLaunch.__call__") == 2
    assert "0 Stream.__exit__" in lines
    assert lines.count("0 Event.__sub__") == 2
    assert lines.index("0 launch") < lines.index("0 Stream.sync")
    assert lines[-1] == "TypeError"  # checks of the call belong to its range


@pytest.mark.parametrize("value", ["", "0"])
def test_without_the_variable_nothing_is_loaded(run_python, profiler, value):
    code = PROGRAM + "print(type(Stream.sync).__name__)"
    lines = run_python(code, HALFWARP_NVTX=value, NVTX_INJECTION64_PATH=profiler).splitlines()
    assert lines == ["TypeError", "method_descriptor"]


def test_without_a_profiler_calls_work_unchanged(run_python):
    code = PROGRAM + "print(type(Stream.sync).__name__)"
    lines = run_python(code, HALFWARP_NVTX="1").splitlines()
    assert lines == ["TypeError", "method_descriptor"]


def test_a_library_that_declines_is_reported(run_python, profiler):
    line = "halfwarp: no NVTX ranges: the injection library declined"
    environment = {"HALFWARP_NVTX": "1", "NVTX_INJECTION64_PATH": profiler, "DECLINES": "1"}
    assert run_python(PROGRAM, allowed=(line,), **environment).splitlines() == ["TypeError"]


def test_a_profiler_without_ranges_gets_none(run_python, profiler):
    environment = {"HALFWARP_NVTX": "1", "NVTX_INJECTION64_PATH": profiler, "ONLY_POPS": "1"}
    assert run_python(PROGRAM, **environment).splitlines() == ["TypeError"]


def test_a_library_that_cannot_be_opened_is_reported(run_python):
    line = "halfwarp: no NVTX ranges: NVTX_INJECTION64_PATH: "
    run_python(PROGRAM, HALFWARP_NVTX="1", NVTX_INJECTION64_PATH="/nowhere.so", allowed=(line,))


OLDER = SimpleNamespace(nvtxRangePushA="push", nvtxRangePop="pop")


@pytest.mark.parametrize(
    ("libraries", "functions"),
    [
        ({"libnvToolsExt.so.1": OLDER}, ("push", "pop")),
        ({"libnvToolsExt.so": OLDER}, ("push", "pop")),
        ({"libnvToolsExt.so.1": SimpleNamespace(), "libnvToolsExt.so": OLDER}, ("push", "pop")),
        ({"libnvToolsExt.so.1": SimpleNamespace()}, None),
    ],
)
def test_older_profilers_are_tried_in_order(monkeypatch, libraries, functions):
    def load(name):
        if name not in libraries:
            raise OSError(name)
        return libraries[name]

    monkeypatch.setattr(nvtx, "ctypes", SimpleNamespace(CDLL=load))
    assert nvtx.connect({}) == functions


def test_an_invalid_value_is_an_error(run_python):
    code = """
from cuda.core import Device
for _ in range(2):
    try:
        Device(0)
    except ValueError as error:
        print(error)
"""
    output = run_python(code, HALFWARP_NVTX="yes")
    assert "HALFWARP_NVTX=yes is not understood: it may be 0 or 1" in output
