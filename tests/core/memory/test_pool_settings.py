# SPDX-License-Identifier: Apache-2.0
"""Settings of a pool: each changes only the driver's attribute of its name."""

import pytest
from cuda.bindings import driver
from cuda.core import DeviceMemoryResource

Attribute = driver.CUmemPool_attribute
SETTINGS = {
    "reuse_follow_event_dependencies": False,
    "reuse_allow_opportunistic": False,
    "reuse_allow_internal_dependencies": False,
    "release_threshold": 1 << 16,
}


@pytest.fixture
def pool(device):
    own = DeviceMemoryResource(device, {})
    yield own
    own.close()


def settings_of(pool):
    """Return the driver's values of all settings."""
    values = {}
    for name in SETTINGS:
        attribute = Attribute[f"CU_MEMPOOL_ATTR_{name.upper()}"]
        status, value = driver.cuMemPoolGetAttribute(int(pool.handle), attribute)
        assert status == 0
        values[name] = int(value)
    return values


@pytest.mark.parametrize("access", ["the resource", "its attributes"])
@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting_changes_only_itself(pool, name, access):
    before, value = settings_of(pool), SETTINGS[name]
    target = pool if access == "the resource" else pool.attributes
    assert before[name] != value
    setattr(target, name, value)
    assert settings_of(pool) == {**before, name: int(value)}
    read = getattr(pool.attributes, name)
    assert read == value == getattr(pool, name) and type(read) is type(value)
