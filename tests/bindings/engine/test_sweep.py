# SPDX-License-Identifier: Apache-2.0
"""Every function of driver and runtime is called in every form; see sweep.py."""

import json
from pathlib import Path

import pytest

from generator import libraries


@pytest.mark.parametrize("library", ["driver", "runtime"])
def test_every_function_works_and_names_each_bad_argument(on_null_driver, library):
    code = Path(__file__).with_name("sweep.py").read_text()
    report = json.loads(on_null_driver(code, HALFWARP_SWEEP=library))
    assert report["problems"] == {}
    assert report["swept"] == sum(f.in_python for f in libraries.load(library).functions) > 300
