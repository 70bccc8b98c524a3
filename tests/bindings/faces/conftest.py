# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the tests of `cuda.bindings._v2`."""

import pytest
from cuda.bindings._v2 import driver


@pytest.fixture(scope="module")
def context():
    driver.init(0)
    primary = driver.device_primary_ctx_retain(0)
    driver.ctx_set_current(primary)
    yield primary
    driver.ctx_set_current(0)
    driver.device_primary_ctx_release_v2(0)
