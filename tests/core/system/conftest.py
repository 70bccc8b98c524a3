# SPDX-License-Identifier: Apache-2.0
"""A device as the machine knows it, and what only an emulated one lets tests do."""

import pytest
from cuda.core import emulation as emulated
from cuda.core import system


@pytest.fixture
def nvml_device():
    """The first device of the machine. Without NVML there is nothing to test."""
    try:
        return system.Device(index=0)
    except RuntimeError as error:
        pytest.skip(f"there is no NVML: {error}")


@pytest.fixture
def sensors(nvml_device):
    """Sets sensors of the emulated device, and brings them back."""
    if not emulated.is_active():
        pytest.skip("only the sensors of an emulated device can be set")
    before = emulated.sensors()
    yield emulated.set_sensors
    emulated.set_sensors(**before)


@pytest.fixture
def post_event(nvml_device):
    """Lets something happen to the emulated device."""
    if not emulated.is_active():
        pytest.skip("events come when a test wants them only on the emulator")
    return emulated.post_event
