# SPDX-License-Identifier: Apache-2.0
"""The file that debuggers show as a program's source."""

import os
import re

import pytest
from cuda.core import Program, ProgramOptions
from cuda.core.compile import debug_source


@pytest.mark.parametrize(
    ("source", "kernel"),
    [
        ('extern "C" __global__ void scale(float* x) {}', "scale"),
        ("template <class T>\n__global__ void\nadd (T a) {}", "add"),
        ("__global__ void __launch_bounds__(256) bounded(int) {}", "bounded"),
        ("__global__ __launch_bounds__(256, (1+1)) void bounded2(int) {}", "bounded2"),
        ("__global__ __cluster_dims__(2, 1, 1) void wide(int) {}", "wide"),
        ("__device__ int f() { return 1; } __global__ void late() {}", "late"),
        ("__device__ int f() { return 1; }", "kernel"),
        ("", "kernel"),
    ],
)
def test_the_file_is_named_after_the_caller_and_the_first_kernel(source, kernel, tmp_path):
    path = write_in(tmp_path, source)
    assert re.fullmatch(rf"test_debug_source_{kernel}_\w{{8}}\.cu", path.name)
    assert path.read_text() == source


def test_files_of_equal_sources_are_distinct(tmp_path):
    assert write_in(tmp_path, "x") != write_in(tmp_path, "x")


def test_a_folder_without_write_access_gives_no_file(tmp_path, monkeypatch):
    monkeypatch.setattr(debug_source.tempfile, "tempdir", str(tmp_path / "absent"))
    assert debug_source.write("x") is None


def test_a_full_disk_leaves_no_stray_file(tmp_path, monkeypatch):
    def full(*args, **kwargs):
        raise OSError("no space left on device")

    monkeypatch.setattr(debug_source.tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(debug_source, "open", full, raising=False)
    assert debug_source.write("x") is None
    assert not list(tmp_path.iterdir())


def test_removing_a_missing_file_raises_nothing(tmp_path):
    debug_source.remove(str(tmp_path / "absent.cu"), os.getpid())


def test_a_source_that_cannot_be_encoded_leaves_no_file(tmp_path, monkeypatch):
    monkeypatch.setattr(debug_source.tempfile, "tempdir", str(tmp_path))
    options = ProgramOptions(arch="sm_90", debug=True)
    with pytest.raises(UnicodeEncodeError):
        Program("// \udc80", "c++", options)
    assert not list(tmp_path.iterdir())


def test_a_forked_child_leaves_the_file_at_exit(run_python, tmp_path):
    code = """
import os, gc
from cuda.core import Program, ProgramOptions
program = Program("__global__ void f() {}", "c++", ProgramOptions(arch="sm_90", debug=True))
files = os.listdir()
child = os.fork()
if not child:
    raise SystemExit  # runs the exit handlers
assert os.waitpid(child, 0)[1] == 0
print(files == os.listdir(), len(files))
"""
    assert run_python(
        f"import os; os.chdir({str(tmp_path)!r})\n{code}", TMPDIR=str(tmp_path)
    ).split() == ["True", "1"]
    assert not list(tmp_path.iterdir())  # the parent's exit removed it


def test_lines_are_counted_from_the_start_of_the_file():
    assert debug_source.named("a\nb", '/tmp/"x\\y.cu') == '#line 1 "/tmp/\\"x\\\\y.cu"\na\nb'


def write_in(folder, source):
    """Call `write`, which looks two frames up for the caller; the extension adds one frame less."""
    old, debug_source.tempfile.tempdir = debug_source.tempfile.tempdir, str(folder)
    try:
        return folder / debug_source.write(source)
    finally:
        debug_source.tempfile.tempdir = old
