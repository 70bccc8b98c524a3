# SPDX-License-Identifier: Apache-2.0
"""python -m cuda.core.emulation: the table, running scripts, the folder for other programs."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from cuda.core.emulation.command import run_guarded

from ..programs.raw_calls import CAPABILITIES, RAW_CALLS

START = RAW_CALLS + "import sys\nstart()\n"


@pytest.fixture
def command(tmp_path):
    def run(*arguments):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("HALFWARP_")}
        return subprocess.run(
            [sys.executable, "-m", "cuda.core.emulation", *map(str, arguments)],
            env=environment | {"XDG_CACHE_HOME": str(tmp_path / "cache")},
            capture_output=True,
            text=True,
            timeout=300,
        )

    return run


@pytest.fixture
def script(tmp_path):
    def write(text):
        path = tmp_path / "script.py"
        path.write_text(START + text)
        return path

    return write


def test_the_table_has_a_column_per_capability(command):
    lines = command().stdout.splitlines()
    assert lines[0].split()[-len(CAPABILITIES) :] == CAPABILITIES
    rows = {line.split()[0]: line.split()[1:] for line in lines[1:]}
    assert rows["WARP_SIZE"] == ["32"] * len(CAPABILITIES)
    assert rows["COMPUTE_CAPABILITY_MAJOR"] == [cc.split(".")[0] for cc in CAPABILITIES]
    assert len(rows) > 150


class TestRun:
    def test_a_clean_script_gets_its_arguments_and_succeeds(self, command, script):
        done = command("run", "--seed", "9", script("print(sys.argv[1:])"), "a", "--b")
        assert done.returncode == 0, done.stderr
        assert done.stdout.strip() == "['a', '--b']"
        assert "seed 9" in done.stderr

    def test_leaks_fail_the_run(self, command, script):
        done = command("run", script('output("cuStreamCreate", 0)'))
        assert done.returncode == 1
        assert "leak: stream" in done.stderr

    @pytest.mark.parametrize(
        ("end", "status"), [("sys.exit(3)", 3), ("raise KeyError", 1), ("sys.exit('no')", 1)]
    )
    def test_the_exit_status_of_the_script_is_returned(self, command, script, end, status):
        assert command("run", script(end)).returncode == status

    def test_wrong_options_and_missing_scripts_are_refused(self, command, script):
        wrong = command("run", "--mode", "fast", script(""))
        assert wrong.returncode == 2
        assert "eager, async, adversarial or null" in wrong.stderr
        assert command("run").returncode == 2
        assert command("walk").returncode == 2


class TestExec:
    def test_a_program_receives_its_arguments_and_its_status_is_returned(self, command):
        done = command("exec", "sh", "-c", 'echo "$@"; exit 5', "sh", "a", "--b")
        assert done.returncode == 5
        assert done.stdout == "a --b\n"

    def test_it_finds_the_emulator_with_the_options(self, command):
        code = """
import ctypes
driver, count = ctypes.CDLL("libcuda.so.1"), ctypes.c_int()
print(driver.cuInit(0), driver.cuDeviceGetCount(ctypes.byref(count)), count.value)
ctypes.CDLL("libnvidia-ml.so.1")
"""
        done = command("exec", "--devices", "3", sys.executable, "-c", code)
        assert done.stdout.split() == ["0", "0", "3"], done.stderr

    def test_options_may_precede_the_command(self, command):
        code = "import os; print(os.environ['HALFWARP_EMULATOR_DEVICES'])"
        for options in (["--devices", "3"], ["--devices=3"]):
            done = command(*options, "exec", sys.executable, "-c", code)
            assert (done.returncode, done.stdout) == (0, "3\n"), done.stderr

    def test_a_failed_exec_is_reported_like_in_a_shell(self, command, tmp_path):
        assert command("exec").returncode == 2
        assert command("exec", "--mode", "fast", "true").returncode == 2
        assert command("exec", "no-such-program").returncode == 127
        done = command("exec", str(tmp_path))
        assert done.returncode == 126
        assert "Traceback" not in done.stderr


def test_the_folder_holds_a_driver_of_the_usual_name(command):
    folder = Path(command("path").stdout.strip())
    assert folder == Path(command("path").stdout.strip())
    library = folder / "libcuda.so.1"
    assert library.is_symlink()
    code = """
import ctypes
version = ctypes.c_int()
print(ctypes.CDLL("libcuda.so.1").cuDriverGetVersion(ctypes.byref(version)), version.value)
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"LD_LIBRARY_PATH": str(folder)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.stdout.split()[0] == "0", done.stderr
    assert int(done.stdout.split()[1]) >= 13000


@pytest.mark.parametrize("kind", ["folder", "archive"])
def test_a_folder_or_archive_without_a_main_module_is_a_plain_error(command, tmp_path, kind):
    path = tmp_path / "program"
    if kind == "folder":
        path.mkdir()
    else:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("other.py", "")
    done = command("run", str(path))
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert f"is a {'folder' if kind == 'folder' else 'zip archive'} without __main__" in done.stderr


def test_a_folder_with_a_main_module_runs(command, tmp_path):
    (tmp_path / "__main__.py").write_text("print('the main module')")
    assert command("run", str(tmp_path)).stdout == "the main module\n"


def test_a_missing_script_is_a_plain_error(command, tmp_path):
    done = command("run", "--seed", "3", str(tmp_path / "absent.py"))
    assert done.returncode == 2
    assert "there is no script" in done.stderr
    assert "Traceback" not in done.stderr


FORMS = """
import numpy as np
from cuda.core import Device, LaunchConfig, ObjectCode, launch
device = Device()
device.set_current()
stream = device.create_stream()
ptx = '''.version 8.0
.target sm_80
.address_size 64
.visible .entry both(.param .u32 n) {
    .reg .f32 x; .reg .u32 a; .reg .pred p; ld.param.u32 a, [n]; mov.f32 x, 0f3F000000;
    setp.eq.u32 p, a, 0; @p sin.approx.f32 x, x; @!p ex2.approx.f32 x, x; bar.sync 0; ret;
}'''
kernel = ObjectCode.from_ptx(ptx.encode()).get_kernel("both")
launch(stream, LaunchConfig(grid=1, block=32), kernel, np.uint32(1))
stream.sync()
"""


def test_fidelity_lists_the_forms_that_were_executed(command):
    done = command("--fidelity", sys.executable, "-c", FORMS)
    assert done.returncode == 0
    assert "exact: bar, ld, mov, ret, setp" in done.stderr
    assert "documented: ex2 (in both)" in done.stderr
    assert "sin" not in done.stderr


@pytest.mark.parametrize(
    ("raised", "status", "text"),
    [
        (None, 0, ""),
        (SystemExit(), 0, ""),
        (SystemExit(0), 0, ""),
        (SystemExit(3), 3, ""),
        (SystemExit("a reason"), 1, "a reason\n"),
        (ValueError("a fault"), 1, "ValueError: a fault\n"),
        (KeyboardInterrupt(), 1, "KeyboardInterrupt\n"),
    ],
    ids=repr,
)
def test_the_status_of_a_script_is_a_number(capsys, raised, status, text):
    def run_path(path, run_name):
        assert (path, run_name) == ("script.py", "__main__")
        if raised is not None:
            raise raised

    result = run_guarded(run_path, "script.py")
    assert (result, type(result)) == (status, int)
    assert capsys.readouterr().err.endswith(text)
