# SPDX-License-Identifier: Apache-2.0
"""`cuda.ccuda`, `cuda.ccudart` and `cuda.cnvrtc` work for a module written for 12.x."""

import pytest
from cuda.bindings import driver, nvrtc, runtime


@pytest.fixture(scope="module")
def foreign(import_built, cuda_headers):
    return import_built("foreign_old_paths", cuda_headers)


def test_calls_reach_the_same_functions_as_from_python(foreign):
    expected = driver.cuDriverGetVersion()[1], runtime.cudaRuntimeGetVersion()[1]
    expected = (0, 0, 0, *expected, *nvrtc.nvrtcVersion()[1:])
    assert foreign.versions_by_name() == foreign.versions_by_module() == expected
