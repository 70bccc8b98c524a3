# SPDX-License-Identifier: Apache-2.0
"""pytest --cov in a repository whose kernels are in Python strings and in files."""

import os
import re
import subprocess
import sys
from xml.etree import ElementTree

import pytest

from ...programs.pytest_command import COMMAND

coverage = pytest.importorskip("coverage")
pytest.importorskip("pytest_cov")

KERNELS = '''
"""Kernels of a package."""
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch
from pathlib import Path

SIGN = r"""
extern "C" __global__ void sign(int* x, int n) {
    int i = threadIdx.x;
    if (i >= n) return;
    if (x[i] < 0) {
        x[i] = -1;
    } else if (x[i] > 0) {
        x[i] = 1;
    }
}
"""

STEPS = 3


def formatted():
    return f"""
extern "C" __global__ void repeat(int* x, int n) {{
    for (int k = 0; k < {STEPS}; ++k) {{
        x[threadIdx.x] += 1;
    }}
    if (n < 0)
        x[0] = 0;
}}
"""


FILL = Path(__file__).with_name("fill.cu")


def run(source, name, values):
    import numpy as np
    from cuda.core import LegacyPinnedMemoryResource

    device = Device()
    device.set_current()
    stream = device.create_stream()
    buffer = LegacyPinnedMemoryResource().allocate(128, stream=stream)
    data = np.from_dlpack(buffer).view(np.int32)
    data[:] = 0
    data[: len(values)] = values
    code = Program(source, "c++", ProgramOptions(name="program")).compile("cubin")
    kernel = code.get_kernel(name)
    launch(stream, LaunchConfig(grid=1, block=32), kernel, buffer, np.int32(len(values)))
    stream.sync()
    return data.tolist()
'''.lstrip()
FILL = """
#include "limits.cuh"
extern "C" __global__ void fill(int* x, int n) {
    x[threadIdx.x] = limited(threadIdx.x, n);
}
"""
LIMITS = """
__device__ inline int limited(int value, int limit) {
    if (value > limit)
        return limit;
    return value;
}
__device__ inline int unused(int value) {
    return value;
}
"""
TESTS = """
import pytest
from shop import kernels


def test_sign():
    assert kernels.run(kernels.SIGN, "sign", [5, 0, 7])[:4] == [1, 0, 1, 0]


def test_repeat():
    assert kernels.run(kernels.formatted(), "repeat", [1])[:2] == [4, 3]


def test_fill(monkeypatch):
    monkeypatch.chdir(kernels.FILL.parent)
    assert kernels.run(kernels.FILL.read_text(), "fill", [0] * 4)[:6] == [0, 1, 2, 3, 4, 4]
"""
CONFIGURATION = "[run]\nbranch = True\nplugins = halfwarp.coverage\n"


@pytest.fixture
def repository(tmp_path):
    (tmp_path / "shop").mkdir()
    for name, text in {
        "shop/__init__.py": "",
        "shop/kernels.py": KERNELS,
        "shop/fill.cu": FILL,
        "shop/limits.cuh": LIMITS,
        "test_kernels.py": TESTS,
        ".coveragerc": CONFIGURATION,
        "pytest.ini": "[pytest]\n",
    }.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def run(folder, *arguments):
    environment = {**os.environ, "PYTHONPATH": f"{folder}:{os.environ.get('PYTHONPATH', '')}"}
    environment.pop("HALFWARP_BACKEND", None)
    command = [*COMMAND, "-q", "--cuda-emulate"]
    return subprocess.run(
        [*command, *arguments], cwd=folder, env=environment, capture_output=True, text=True
    )


def line_of(text, part):
    """Return the number of the first line that contains a part."""
    return next(number for number, line in enumerate(text.split("\n"), 1) if part in line)


def lines_of(text, *parts):
    return {line_of(text, part) for part in parts}


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["one process", "xdist"])
def test_reports_show_kernels(repository, workers):
    outcome = run(
        repository, "--cov=shop", "--cov-report=term-missing", "--cov-report=xml",
        "--cov-report=html", *workers,
    )  # fmt: skip
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr

    missing = {}
    for row in ElementTree.parse(repository / "coverage.xml").iter("class"):
        lines = {int(line.get("number")): int(line.get("hits")) for line in row.iter("line")}
        missing[row.get("filename")] = lines
    kernels = missing["kernels.py"]
    assert {line for line, hits in kernels.items() if not hits} == lines_of(
        KERNELS, "x[i] = -1;", "x[0] = 0;"
    )
    executed = lines_of(KERNELS, "if (i >= n)", "x[i] = 1;", "for (int k", "x[threadIdx.x] += 1")
    assert all(kernels[line] for line in executed)
    assert {line for line, hits in missing["limits.cuh"].items() if not hits} == {8}
    assert missing["fill.cu"] == {4: 1}

    page = next((repository / "htmlcov").glob("*kernels_py.html")).read_text()
    classes = {int(number): kind for kind, number in re.findall(
        r'<p class="(\w\w)[^"]*"><span class="n"><a id="t(\d+)"', page
    )}  # fmt: skip
    assert classes[line_of(KERNELS, "x[i] = -1;")] == "mi"  # its class begins with these letters
    assert classes[line_of(KERNELS, "x[i] = 1;")] == "ru"
    assert classes[line_of(KERNELS, "if (x[i] < 0)")] == "pa"


def test_data_file_has_lines_and_branches(repository):
    assert run(repository, "--cov=shop").returncode == 0
    data = coverage.CoverageData(str(repository / ".coverage"))
    data.read()
    path = str(repository / "shop" / "kernels.py")
    start, end = line_of(KERNELS, "if (i >= n)"), line_of(KERNELS, "if (x[i] < 0)")
    assert (start, end) in data.arcs(path)
    assert line_of(KERNELS, "x[i] = -1;") not in data.lines(path)


def test_fail_under_counts_kernels(repository):
    assert run(repository, "--cov=shop", "--cov-fail-under=70").returncode == 0
    outcome = run(repository, "--cov=shop", "--cov-fail-under=100")
    assert outcome.returncode != 0
    assert "Required test coverage of 100% not reached" in outcome.stdout


def test_contexts_name_the_test_of_a_line(repository):
    assert run(repository, "--cov=shop", "--cov-context=test").returncode == 0
    data = coverage.CoverageData(str(repository / ".coverage"))
    data.read()
    contexts = data.contexts_by_lineno(str(repository / "shop" / "kernels.py"))
    assert contexts[line_of(KERNELS, "x[threadIdx.x] += 1")] == ["test_kernels.py::test_repeat|run"]


def test_script_form(repository):
    (repository / "script.py").write_text(
        "from shop import kernels\nprint(kernels.run(kernels.SIGN, 'sign', [3, -3])[:2])\n"
    )
    outcome = subprocess.run(
        [
            sys.executable, "-m", "halfwarp", "emulate", "run", "--mode", "eager", "--cov",
            "script.py",
        ],
        cwd=repository, capture_output=True, text=True,
    )  # fmt: skip
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert "[1, -1]" in outcome.stdout
    data = coverage.CoverageData(str(repository / ".coverage"))
    data.read()
    lines = data.lines(str(repository / "shop" / "kernels.py"))
    assert lines_of(KERNELS, "x[i] = -1;", "x[i] = 1;") <= set(lines)
    assert re.search(r"kernels\.py +\d+", outcome.stdout)


def test_script_form_names_a_missing_package(repository):
    (repository / "coverage.py").write_text("raise ImportError")
    (repository / "script.py").write_text("")
    environment = {**os.environ, "PYTHONPATH": f"{repository}:{os.environ.get('PYTHONPATH', '')}"}
    outcome = subprocess.run(
        [sys.executable, "-m", "halfwarp", "emulate", "run", "--cov", "script.py"],
        cwd=repository, env=environment, capture_output=True, text=True,
    )  # fmt: skip
    assert outcome.returncode == 2
    assert "install the package coverage" in outcome.stderr


def test_a_kernel_without_lines_is_named(repository):
    (repository / "test_ptx.py").write_text(
        "from cuda.core import Device, LaunchConfig, ObjectCode, launch\n"
        "PTX = '.version 8.0\\n.target sm_90\\n.address_size 64\\n"
        ".visible .entry silent() { ret; }'\n"
        "def test_launch():\n"
        "    device = Device()\n"
        "    device.set_current()\n"
        "    stream = device.create_stream()\n"
        "    kernel = ObjectCode.from_ptx(PTX.encode()).get_kernel('silent')\n"
        "    launch(stream, LaunchConfig(grid=1, block=1), kernel)\n"
        "    stream.sync()\n"
    )
    outcome = run(repository, "--cov=.", "test_ptx.py")
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert outcome.stdout.count("kernel silent: its PTX has no line information") == 1
