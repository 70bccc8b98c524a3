# SPDX-License-Identifier: Apache-2.0
"""Settings of a pool: each reaches the driver's attribute of its name, and no other."""

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


def told(pool):
    """What the driver says of each setting."""
    found = {}
    for name in SETTINGS:
        attribute = Attribute[f"CU_MEMPOOL_ATTR_{name.upper()}"]
        status, value = driver.cuMemPoolGetAttribute(int(pool.handle), attribute)
        assert status == 0
        found[name] = int(value)
    return found


@pytest.mark.parametrize("through", ["the resource", "its attributes"])
@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting_changes_itself_alone(pool, name, through):
    before, value = told(pool), SETTINGS[name]
    target = pool if through == "the resource" else pool.attributes
    assert before[name] != value
    setattr(target, name, value)
    assert told(pool) == {**before, name: int(value)}
    read = getattr(pool.attributes, name)
    assert read == value == getattr(pool, name) and type(read) is type(value)
