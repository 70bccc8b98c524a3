# SPDX-License-Identifier: Apache-2.0
"""`cuda.ccuda`, `cuda.ccudart` and `cuda.cnvrtc` serve a module that was written for 12.x."""

import importlib.util

import pytest
from cuda.bindings import driver, nvrtc, runtime

from generator import headers, model

INCLUDE = headers.find(model.load("driver").version)

pytestmark = pytest.mark.skipif(not INCLUDE, reason="no CUDA headers")


@pytest.fixture(scope="module")
def foreign(build):
    target = build("foreign_old_paths", INCLUDE)
    spec = importlib.util.spec_from_file_location("foreign_old_paths", target)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_calls_arrive_where_those_from_python_do(foreign):
    expected = driver.cuDriverGetVersion()[1], runtime.cudaRuntimeGetVersion()[1]
    expected = (0, 0, 0, *expected, *nvrtc.nvrtcVersion()[1:])
    assert foreign.versions_by_name() == foreign.versions_by_module() == expected
