# SPDX-License-Identifier: Apache-2.0
"""NVML functions that tests must not call on a real machine are distinguished from queries."""

from types import SimpleNamespace

import pytest
from cuda.bindings import nvml

from .. import machine_settings


@pytest.mark.parametrize(
    "name",
    [
        "device_set_mig_mode",
        "device_set_persistence_mode",
        "device_set_fan_speed_v2",
        "device_set_power_management_limit_v2",
        "device_reset_gpu_locked_clocks",
        "device_clear_field_values",
        "device_create_gpu_instance",
        "gpu_instance_destroy",
        "unit_set_led_state",
    ],
)
def test_a_setter_changes_a_machine(name):
    assert name in machine_settings.setters(nvml)


@pytest.mark.parametrize(
    "name",
    [
        "device_get_mig_mode",
        "device_set_cpu_affinity",  # settings of the calling thread
        "device_register_events",
        "system_event_set_create",
        "event_set_free",
        "device_validate_inforom",
        "init_v2",
    ],
)
def test_a_query_changes_nothing_persistent(name):
    assert hasattr(nvml, name)
    assert name not in machine_settings.setters(nvml)


def test_a_refused_function_is_not_called():
    called, refused = [], []
    module = SimpleNamespace(device_set_mig_mode=called.append, device_get_name=called.append)
    machine_settings.replace_setters(module, refused.append)
    module.device_set_mig_mode(1)
    module.device_get_name(2)
    assert (called, refused) == ([2], ["device_set_mig_mode"])
