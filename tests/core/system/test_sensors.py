# SPDX-License-Identifier: Apache-2.0
"""Values that the classes derive from NVML's numbers, which tests set on an emulated device."""

import inspect

import pytest
from cuda.core import system
from cuda.core.system import typing

pytestmark = pytest.mark.usefixtures("sensors")


def test_set_values_are_read_back(nvml_device, sensors):
    sensors(
        temperature=83,
        gpu_utilization=71,
        memory_utilization=12,
        sm_clock=1500,
        pcie_rx=12345,
        pcie_tx=543,
        pcie_replays=3,
        power=321_000,
        display_connected=1,
        c2c=1,
        repair_pending=1,
        auto_boost=0,
    )
    assert nvml_device.temperature.get_sensor() == 83
    assert nvml_device.temperature.margin == 87 - 83
    assert nvml_device.temperature.get_thermal_settings("gpu")[0].current_temp == 83
    assert (nvml_device.utilization.gpu, nvml_device.utilization.memory) == (71, 12)
    assert nvml_device.dynamic_pstates_info[0].percentage == 71
    assert nvml_device.get_clock("sm").get_current_mhz() == 1500
    assert nvml_device.pci_info.rx_throughput == 12345
    assert nvml_device.pci_info.tx_throughput == 543
    assert nvml_device.pci_info.replay_counter == 3
    assert nvml_device.get_field_values([typing.FieldId.DEV_POWER_INSTANT])[0].value == 321_000
    assert nvml_device.is_display_connected and nvml_device.is_c2c_enabled
    assert nvml_device.repair_status.channel_repair_pending
    assert nvml_device.is_auto_boosted_clocks_enabled == (False, True)


def test_counters_are_cleared_by_their_field(nvml_device, sensors):
    sensors(pcie_replays=9)
    nvml_device.clear_field_values([typing.FieldId.DEV_PCIE_REPLAY_COUNTER])
    assert nvml_device.pci_info.replay_counter == 0


def test_a_negative_field_stays_negative(nvml_device):
    field = typing.FieldId.DEV_TEMPERATURE_SHUTDOWN_TLIMIT
    assert nvml_device.get_field_values([field])[0].value == -8


def test_energy_grows_with_power(nvml_device, sensors):
    def read():
        return nvml_device.get_field_values([typing.FieldId.DEV_TOTAL_ENERGY_CONSUMPTION])[0].value

    sensors(power=10_000_000)
    before = read()
    while read() == before:
        pass
    assert read() > before


@pytest.mark.parametrize(("number", "value"), [(0, None), (1, "hmm"), (2, "ats"), (9, None)])
def test_addressing_modes(nvml_device, sensors, number, value):
    sensors(addressing_mode=number)
    assert nvml_device.addressing_mode == value


@pytest.mark.parametrize(("number", "value"), [(0, 0), (8, 8), (15, 15), (32, None)])
def test_performance_states(nvml_device, sensors, number, value):
    sensors(performance_state=number)
    assert nvml_device.performance_state == value


def test_reasons_are_the_bits_of_a_mask(nvml_device, sensors):
    every = [each for each in typing.ClocksEventReasons if each != "none"]
    for bit in range(11):
        sensors(clock_event_reasons=1 << bit)
        assert len(nvml_device.current_clock_event_reasons) == 1
    sensors(clock_event_reasons=0x7FF)
    assert set(nvml_device.current_clock_event_reasons) == set(every)
    sensors(clock_event_reasons=0)
    assert nvml_device.current_clock_event_reasons == []
    sensors(clock_event_reasons=1 | 1 << 11)
    with pytest.raises(ValueError, match="Unknown clock event reason bit: 2048"):
        print(nvml_device.current_clock_event_reasons)


@pytest.mark.parametrize(
    ("number", "value"),
    [(1, (1, 0)), (2, (2, 0)), (3, (2, 2)), (4, (3, 0)), (5, (3, 1)), (6, (4, 0)), (7, (5, 0))],
)
def test_versions_of_nvlink(nvml_device, sensors, number, value):
    sensors(nvlinks=3, nvlink_version=number)
    assert [link.version for link in nvml_device.get_nvlinks()] == [value] * 3
    assert nvml_device.get_nvlink(2).state is True


@pytest.mark.parametrize(
    ("number", "text"), [(0, "Invalid NvLink version"), (99, "Unknown NvLink version 99")]
)
def test_unknown_versions_of_nvlink(nvml_device, sensors, number, text):
    sensors(nvlinks=1, nvlink_version=number)
    with pytest.raises(RuntimeError, match=text):
        print(nvml_device.get_nvlink(0).version)


def test_a_fan_is_set_and_restored(nvml_device, sensors):
    fan = nvml_device.get_fan()
    fan.speed = 70
    assert (fan.speed, fan.target_speed, fan.speed_rpm) == (70, 70, 2800)
    assert fan.control_policy is typing.FanControlPolicy.MANUAL
    fan.set_default_speed()
    assert fan.control_policy is typing.FanControlPolicy.TEMPERATURE_CONTROLLED
    assert fan.min_max_speed == (0, 100)
    for wrong, error in ((101, system.InvalidArgumentError), (-1, OverflowError), ("x", TypeError)):
        with pytest.raises(error):
            fan.speed = wrong
    assert fan.speed == 30


def test_an_unknown_fan_policy_is_an_error(nvml_device, sensors):
    sensors(fan_policy=7)
    with pytest.raises(ValueError, match="Unknown fan control policy 7"):
        print(nvml_device.get_fan().control_policy)


def test_a_device_without_fans_has_no_cooler(nvml_device, sensors):
    sensors(fans=0)
    assert nvml_device.num_fans == 0
    with pytest.raises(system.InvalidArgumentError):
        print(nvml_device.cooler)
    with pytest.raises(ValueError, match=r"Fan index 0 is out of range \[0, 0\)"):
        nvml_device.get_fan()


def test_persistence_mode_is_set(nvml_device):
    nvml_device.is_persistence_mode_enabled = False
    assert nvml_device.is_persistence_mode_enabled is False
    nvml_device.is_persistence_mode_enabled = True
    assert nvml_device.is_persistence_mode_enabled is True


@pytest.mark.parametrize("name", ["name", "memory_info", "utilization", "temperature"])
def test_getters_in_c_have_docstrings_and_cannot_be_set(nvml_device, name):
    declared = vars(system.Device)[name]
    assert inspect.isgetsetdescriptor(declared)
    assert "Host only." in declared.__doc__
    with pytest.raises(AttributeError):
        setattr(nvml_device, name, None)
    with pytest.raises(TypeError):
        declared.__get__(object())


def test_methods_in_c_accept_the_arguments_of_their_signature(nvml_device):
    clock = nvml_device.get_clock("sm")
    assert str(inspect.signature(clock.get_current_mhz)).startswith("(clock_id: ")
    current = clock.get_current_mhz()
    assert clock.get_current_mhz("current") == clock.get_current_mhz(clock_id="current") == current
    with pytest.raises(ValueError, match="Invalid clock ID"):
        clock.get_current_mhz("other")
    with pytest.raises(TypeError, match="positional argument"):
        nvml_device.temperature.get_sensor(0)


def test_only_a_query_creates_a_record(nvml_device):
    for value in (nvml_device.memory_info, nvml_device.utilization, nvml_device.temperature):
        assert repr(value).startswith(f"<{type(value).__name__}")
        with pytest.raises(TypeError):
            type(value)()


def test_a_failed_query_raises_from_the_property(nvml_device):
    lost = object.__new__(system.Device)
    lost._handle = 0xDEAD0000
    for name in ("name", "memory_info", "utilization"):
        with pytest.raises(system.exceptions.InvalidArgumentError):
            getattr(lost, name)
