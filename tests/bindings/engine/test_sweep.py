# SPDX-License-Identifier: Apache-2.0
"""Every function of the driver is called in every form; see sweep.py."""

import json
from pathlib import Path

from generator import model


def test_every_function_works_and_names_each_bad_argument(on_null_driver):
    report = json.loads(on_null_driver(Path(__file__).with_name("sweep.py").read_text()))
    assert report["problems"] == {}
    assert report["swept"] == sum(f.in_python for f in model.load("driver").functions) > 500
