# SPDX-License-Identifier: Apache-2.0
"""Lines of Triton's kernels, from the line table of their PTX; one test has a recorded PTX."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("coverage")
pytest.importorskip("pytest_cov")

ROOT = Path(__file__).parents[3]
SITE = Path(os.environ.get("HALFWARP_CLIENTS") or ROOT / ".clients" / "site") / "triton"

# "+": a line that executes, "-": one that does not, "?": one without code of its own.
KERNELS = """\
import triton
import triton.language as tl


@triton.jit
def clip(v, n):
    if n > 5:                                   #+
        v = v * 2                               #?
    else:
        v = v - 1                               #?
    return v


@triton.jit
def kernel(x, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)                      #+
    offs = pid * BLOCK + tl.arange(0, BLOCK)    #+
    mask = offs < n                             #+
    total = tl.load(x + offs, mask=mask)        #+
    for k in range(n):                          #+
        total += k                              #+
    if n > 100:                                 #+
        tl.store(x + offs, total)               #-
    total = clip(total, n)                      #+
    tl.store(x + offs, total, mask=mask)        #+


@triton.jit
def unused(x):
    tl.store(x, 1)                              #-
"""
# Without Triton, the decorators of the kernels do nothing.
SUBSTITUTE = """\
class language:
    constexpr = int


def jit(function):
    return function
"""
# `triton.compile` of version 3.9 wrote it for sm_90, without `unused` and the debug sections.
PTX = """\
.version 8.0
.target sm_90
.address_size 64
.visible .entry kernel(
    .param .u64 kernel_param_0, .param .u32 kernel_param_1, .param .u64 p2, .param .u64 p3
)
.reqntid 128
{
    .reg .pred     %p<8>;
    .reg .b32     %r<14>;
    .reg .b64     %rd<3>;
    .loc    1 15 0
    ld.param.b32     %r3, [kernel_param_1];
    ld.param.b64     %rd1, [kernel_param_0];
    .loc    1 16 11
    mov.u32     %r1, %ctaid.x;
    .loc    1 17 12
    shl.b32     %r4, %r1, 7;
    .loc    1 17 26
    mov.u32     %r5, %tid.x;
    and.b32     %r6, %r5, 127;
    .loc    1 17 12
    or.b32     %r2, %r4, %r6;
    .loc    1 18 12
    setp.lt.s32     %p1, %r2, %r3;
    .loc    1 19 21
    mad.wide.s32     %rd2, %r2, 4, %rd1;
    .loc    1 19 13
    mov.u32 %r10, 0x0;
    @%p1 ld.global.b32 { %r10 }, [ %rd2 + 0 ];
    .loc    1 20 5
    setp.lt.s32     %p2, %r3, 1;
    @%p2 bra     $L__BB0_3;
    .loc    1 0 5
    mov.b32     %r11, 0;
$L__BB0_2:
    .loc    1 21 9
    cvt.rn.f32.u32     %r7, %r11;
    add.f32     %r10, %r10, %r7;
    .loc    1 20 5
    add.s32     %r11, %r11, 1;
    setp.ne.b32     %p3, %r3, %r11;
    @%p3 bra     $L__BB0_2;
$L__BB0_3:
    .loc    1 22 8
    setp.gt.s32     %p4, %r3, 100;
    .loc    1 22 5
    @!%p4 bra     $L__BB0_6;
    .loc    1 23 9
    st.global.b32 [ %rd2 + 0 ], { %r10 };
$L__BB0_6:
    .loc    1 24 13
    .loc    1 7 8, function_name $L__info_string0, inlined_at 1 24 13
    setp.gt.s32     %p6, %r3, 5;
    .loc    1 7 5, function_name $L__info_string0, inlined_at 1 24 13
    selp.f32     %r9, %r10, 0fBF800000, %p6;
    add.f32     %r8, %r10, %r9;
    .loc    1 25 5
    @%p1 st.global.b32 [ %rd2 + 0 ], { %r8 };
    .loc    1 15 1
    ret;
}
    .file    1 "PATH"
    .section    .debug_str
    {
$L__info_string0:
.b8 99,108,105,112,0
    }
"""
RECORDED = """\
import numpy as np
from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, ObjectCode, launch
import kernels


def test_launch():
    device = Device()
    device.set_current()
    stream = device.create_stream()
    buffer = LegacyPinnedMemoryResource().allocate(512, stream=stream)
    data = np.from_dlpack(buffer).view(np.float32)
    data[:] = 1
    ptx = open("kernel.ptx").read().replace("PATH", kernels.__file__)
    kernel = ObjectCode.from_ptx(ptx.encode()).get_kernel("kernel")
    launch(stream, LaunchConfig(grid=1, block=128), kernel, buffer, np.int32(20), 0, 0)
    stream.sync()
    assert data[[0, 19, 20]].tolist() == [382, 382, 1]
"""
COMPILED = """\
import site, sys
import numpy as np

site.addsitedir(SITE)
from cuda.bindings import driver
import kernels


class Array:
    dtype = np.dtype(np.float32)

    def __init__(self):
        self.values = np.ones(128, np.float32)
        _, self.place = driver.cuMemAlloc(512)
        driver.cuMemcpyHtoD(self.place, self.values.ctypes.data, 512)

    def data_ptr(self):
        return int(self.place)


def test_launch():
    driver.cuInit(0)
    _, context = driver.cuDevicePrimaryCtxRetain(0)
    driver.cuCtxSetCurrent(context)
    array = Array()
    kernels.kernel[(1,)](array, 20, BLOCK=128)
    driver.cuCtxSynchronize()
    driver.cuMemcpyDtoH(array.values.ctypes.data, array.place, 512)
    assert array.values[[0, 19, 20]].tolist() == [382, 382, 1]
"""


def count(folder, **environment):
    """Run the test of a folder with coverage, and compare the lines of the kernels."""
    (folder / "kernels.py").write_text(KERNELS)
    (folder / "pytest.ini").write_text("[pytest]\npythonpath = .\n")
    outcome = subprocess.run(
        [
            sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--cuda-emulate",
            "--cov=.", "--cov-branch", "--cov-report=json",
        ],
        cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True,
    )  # fmt: skip
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    counted = json.loads((folder / "coverage.json").read_text())["files"]["kernels.py"]
    for number, line in enumerate(KERNELS.split("\n"), 1):
        if expected := re.search(r"#([+-])", line):
            kind = {"+": "executed_lines", "-": "missing_lines"}[expected[1]]
            assert number in counted[kind], (line, outcome.stdout)
    assert [20, 21] in counted["executed_branches"]
    assert [22, 23] in counted["missing_branches"]


def test_lines_of_a_recorded_kernel(tmp_path):
    (tmp_path / "triton").mkdir()
    (tmp_path / "triton" / "__init__.py").write_text(SUBSTITUTE)
    (tmp_path / "triton" / "language.py").write_text("constexpr = int\n")
    (tmp_path / "kernel.ptx").write_text(PTX)
    (tmp_path / "test_kernels.py").write_text(RECORDED)
    count(tmp_path)


def test_lines_of_a_kernel_that_triton_compiles(tmp_path):
    if not SITE.is_dir():
        pytest.skip("Triton is not in the folder of clients")
    (tmp_path / "test_kernels.py").write_text(COMPILED.replace("SITE", repr(str(SITE))))
    path = subprocess.run(
        [sys.executable, "-m", "halfwarp", "emulate", "path"], capture_output=True, text=True
    )
    count(tmp_path, LD_LIBRARY_PATH=path.stdout.strip(), TRITON_CACHE_DIR=str(tmp_path / "cache"))
