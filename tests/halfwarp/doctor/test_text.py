# SPDX-License-Identifier: Apache-2.0
"""The report as text: every section, also of parts that could not be examined."""

import pytest

from halfwarp.doctor import text

DEVICE = {"ordinal": 1, "name": "H200", "compute_capability": "9.0", "memory": 3 << 29}
FINDING = {"probe": "files", "what": "a file is gone", "remedy": "reinstall"}
FACTS = {
    "python": {
        "version": "3.12.1",
        "implementation": "CPython",
        "executable": "/usr/bin/python",
        "is_free_threaded": True,
        "platform": "Linux",
    },
    "packages": {
        "halfwarp": "0.1.0",
        "cuda.bindings": "13.5.0",
        "cuda.core": "1.2.2",
        "location": "/site",
        "installed_as": "wheel",
        "related": {"numpy": "2.5"},
    },
    "files": {"recorded": 9, "changed": ["x"], "missing": [], "not_ours": []},
    "driver": {
        "is_found": True,
        "version": "13.0",
        "library": "/lib/libcuda.so.580.1",
        "kernel_module": "580.1",
        "functions": 500,
        "missing_functions": ["cuX"],
    },
    "libraries": {
        "nvrtc": {
            "is_found": True,
            "version": "13.5",
            "path": "/n.so",
            "found_by": "CUDA_PATH",
            "package": "nvidia-cuda-nvrtc",
            "package_version": None,
        },
        "nvvm": {"is_found": False, "searched": ["/a", "/b"]},
        "cufile": {"is_found": False, "searched": ["/a", "/a", "/b"]},
        "nvml": {},
    },
    "backend": {"backend": "driver", "setting": "auto", "devices": [DEVICE]},
    "environment": {"variables": [{"name": "CUDA_PATH", "value": "/x"}]},
}
PAGE = """\
Python
  3.12.1 (CPython, free-threaded), /usr/bin/python
  Linux

Packages
  halfwarp 0.1.0, cuda.bindings 13.5.0, cuda.core 1.2.2
  wheel in /site
  numpy 2.5

Files
  9 recorded, 1 changed, 0 missing, 0 not ours

Driver
  CUDA 13.0, /lib/libcuda.so.580.1
  kernel module 580.1
  lacks 1 of 500 functions

Libraries
  nvrtc     13.5     /n.so (CUDA_PATH)
  nvvm      not found
  cufile    not found
  nvml      could not be examined
  looked in /a
  looked in /b

Backend
  backend: driver (HALFWARP_BACKEND=auto)
  device 1: H200, compute capability 9.0, 1.5 GiB

Environment
  CUDA_PATH=/x

Warnings
  none

Problems
  1. a file is gone
     remedy: reinstall"""


@pytest.fixture
def report():
    return {"facts": FACTS, "problems": [FINDING], "warnings": []}


def test_the_page_contains_everything(report):
    assert text.page(report) == PAGE


def test_the_summary_has_a_few_lines(report):
    assert text.brief(report | {"problems": []}).splitlines() == [
        "halfwarp 0.1.0, cuda.bindings 13.5.0, cuda.core 1.2.2, Python 3.12.1",
        "backend: driver (HALFWARP_BACKEND=auto)",
        "device 1: H200, compute capability 9.0, 1.5 GiB",
    ]


def test_the_summary_of_one_problem_counts_no_more(report):
    assert text.brief(report).splitlines()[-1] == "`halfwarp doctor` shows all findings"


def test_the_summary_contains_the_first_problem(report):
    lines = text.brief(report | {"problems": [FINDING, FINDING]}).splitlines()
    assert lines[-3:] == [
        "problem: a file is gone",
        "remedy: reinstall",
        "`halfwarp doctor` shows all findings; 1 more",
    ]


def test_an_empty_examination_is_reported(report):
    empty = {"facts": {probe: {} for probe in FACTS}, "problems": [], "warnings": []}
    page = text.page(empty)
    assert page.count("unknown") == 4
    assert "Driver\n  not found" in page
    assert text.brief(empty).startswith("halfwarp unknown, ")
