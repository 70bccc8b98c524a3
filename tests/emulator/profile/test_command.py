# SPDX-License-Identifier: Apache-2.0
"""`emulate profile`: a script or program as usual, then tables, JSON and a page with the source."""

import json
import os
import subprocess
import sys

import pytest

SCRIPT = """
import os
import sys
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch
source = '''extern "C" __global__ void gather(const float* a, float* b) {
    b[threadIdx.x] = a[2 * threadIdx.x];
}'''
device = Device()
device.set_current()
stream = device.create_stream()
options = ProgramOptions(name="gather.cu", arch="sm_90", lineinfo=True)
kernel = Program(source, "c++", options).compile("cubin").get_kernel("gather")
with device.allocate(1024, stream=stream) as a, device.allocate(1024, stream=stream) as b:
    launch(stream, LaunchConfig(grid=1, block=64), kernel, a, b)
    stream.sync()
print("arguments", sys.argv[1:])
stream.close()
sys.exit(int(sys.argv[1]))
"""


@pytest.fixture
def command(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)

    def run(*arguments):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("HALFWARP_")}
        return subprocess.run(
            [sys.executable, "-m", "cuda.core.emulation", "profile", *arguments],
            env=environment | {"XDG_CACHE_HOME": str(tmp_path / "cache")},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=300,
        )

    return run


def test_a_script_is_followed_by_the_tables_of_its_kernels(command):
    done = command("script.py", "0", "--x")
    assert done.returncode == 0, done.stderr
    assert "arguments ['0', '--x']" in done.stdout
    assert "gather.cu:2: neighboring lanes load 4 bytes at a distance of 8 bytes" in done.stdout
    table, lines = done.stdout.split("\n\n")
    row = next(each for each in table.splitlines() if each.startswith("gather "))
    assert row.split()[1] == "1"
    assert [each.split()[0] for each in lines.splitlines()] == ["gather", "line", "1", "2", "3"]


def test_a_program_keeps_its_exit_status_and_its_options(command, tmp_path):
    outputs = ["--json", "p.json", "--html", "p.html", "--threads", "2"]
    done = command(*outputs, sys.executable, "script.py", "7")
    assert done.returncode == 7, done.stderr
    (kernel,) = json.loads((tmp_path / "p.json").read_text())["kernels"]
    assert kernel["counters"]["global_load_sectors"] == 2 * 8
    page = (tmp_path / "p.html").read_text()
    assert page.startswith("<!DOCTYPE html>") and "<h2>gather</h2>" in page


def test_a_program_that_does_not_start_has_the_status_of_a_shell(command, tmp_path):
    done = command("./absent")
    assert (done.returncode, done.stdout) == (127, "")
    assert done.stderr.endswith("./absent: No such file or directory\n")
    (tmp_path / "text").write_text("no program")
    assert command("./text").returncode == 126


def test_a_signal_that_ends_a_program_is_in_its_status(command):
    assert command("sh", "-c", "kill -9 $$").returncode == 137


def test_a_file_that_cannot_be_written_is_an_error_before_the_run(command):
    done = command("--html", "absent/page.html", "sh", "-c", "echo ran")
    assert (done.returncode, done.stdout) == (2, "")
    assert "'absent/page.html' cannot be written" in done.stderr


def test_a_program_without_kernels_says_so(command):
    done = command(sys.executable, "-c", "print('hello')")
    assert (done.returncode, done.stdout) == (0, "hello\nno kernel was launched\n")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((), "usage: "),
        (("--cc", "1.0", "x"), "'1.0' is not accepted"),
    ],
)
def test_wrong_arguments_are_errors(command, arguments, expected):
    done = command(*arguments)
    assert done.returncode == 2
    assert expected in done.stderr and "Traceback" not in done.stderr
