# SPDX-License-Identifier: Apache-2.0
"""A device from NVML, and changes that only an emulated device allows."""

import pytest
from cuda.core import emulation as emulated
from cuda.core import system


@pytest.fixture
def nvml_device():
    """The first device of the machine; without NVML, the tests are skipped."""
    try:
        return system.Device(index=0)
    except RuntimeError as error:
        pytest.skip(f"there is no NVML: {error}")


@pytest.fixture
def sensors(nvml_device):
    """Set sensors of the emulated device, and restore them at the end."""
    if not emulated.is_active():
        pytest.skip("only the sensors of an emulated device can be set")
    before = emulated.sensors()
    yield emulated.set_sensors
    emulated.set_sensors(**before)


@pytest.fixture
def post_event(nvml_device):
    """Post an event of the emulated device."""
    if not emulated.is_active():
        pytest.skip("only the emulator can post events")
    return emulated.post_event
