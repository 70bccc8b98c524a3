# SPDX-License-Identifier: Apache-2.0
"""Versions, counts and names; the names of the module; numbers for enums; deprecated spellings."""

import os
import pickle
import warnings

import cuda.core
import pytest
from cuda.bindings import nvml
from cuda.core import Device as CudaDevice
from cuda.core import emulation, system
from cuda.core.system import exceptions, typing


def test_versions_are_tuples_of_numbers(nvml_device):
    major, minor = system.get_user_mode_driver_version()
    assert major >= 12 and minor >= 0
    for version in (system.get_kernel_mode_driver_version(), system.get_nvml_version()):
        assert len(version) >= 2 and all(type(part) is int for part in version)


def test_the_branch_is_a_text(nvml_device):
    try:
        assert system.get_driver_branch().startswith("r")
    except (system.NotSupportedError, system.FunctionNotFoundError):
        assert not emulation.is_active()


def test_the_name_of_this_process(nvml_device):
    CudaDevice(0).set_current()
    try:
        name = system.get_process_name(os.getpid())
    except (system.NotFoundError, system.NoPermissionError):
        assert not emulation.is_active()  # a container may show the process ids of the host
        return
    assert os.path.basename(name).startswith("python")


@pytest.mark.parametrize(
    ("pid", "error"),
    [((1 << 31) - 5, system.NotFoundError), (-1, OverflowError), ("1", TypeError)],
)
def test_an_absent_process_is_an_error(nvml_device, pid, error):
    with pytest.raises(error):
        system.get_process_name(pid)


# --- the module ---


def test_every_name_exists_and_is_listed():
    assert system.CUDA_BINDINGS_NVML_IS_COMPATIBLE is True
    assert set(system.__all__) <= set(dir(system))
    for name in system.__all__:
        assert getattr(system, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        print(system.nothing)


def test_exceptions_are_those_of_the_bindings():
    from cuda.bindings import nvml

    assert len(exceptions.__all__) == 32
    for name in exceptions.__all__:
        cls = getattr(system, name)
        assert cls is getattr(nvml, name) is getattr(exceptions, name)
        assert issubclass(cls, system.NvmlError)
    with pytest.raises(AttributeError):
        print(exceptions.nothing)


@pytest.mark.parametrize("name", [n for n in typing.__all__ if n not in ("FieldId", "DeviceArch")])
def test_enums_are_strings_in_lower_case_of_their_names(name):
    members = getattr(typing, name)
    for member in members:
        assert str(member) == member.value == member
        if name != "GpuP2PStatus":
            assert member.value == member.name.lower()


def test_each_enum_has_a_number_of_nvml_for_each_member():
    from cuda.core.system import _numbers

    mappings = [m for m in vars(_numbers).values() if isinstance(m, _numbers.Mapping)]
    assert len(mappings) == 18
    for mapping in mappings:
        for member in mapping.members():
            number = mapping.to[member]
            if mapping.name != "DeviceArch":  # not a string, and never an argument
                assert mapping.number(member) == mapping.number(str(member)) == number
            assert mapping.member(number) == ("pci" if member == "prop" else member)


def test_architectures_have_the_numbers_of_nvml():
    from cuda.bindings import nvml

    for member in typing.DeviceArch:
        assert int(getattr(nvml.DeviceArch, member.name)) == member
        assert pickle.loads(pickle.dumps(member)) is member
        assert str(member) == f"<DeviceArch.{member.name}: {member.value}>"
    assert 9 in typing.DeviceArch and 99 not in typing.DeviceArch
    assert typing.FieldId is nvml.FieldId


@pytest.mark.parametrize(
    ("name", "built_in"), [("TimeoutError", TimeoutError), ("MemoryError", MemoryError)]
)
def test_exceptions_of_built_in_names_are_of_both_kinds(name, built_in):
    import copy
    import pickle

    cls = getattr(system, name)
    assert issubclass(cls, built_in) and issubclass(cls, system.NvmlError)
    assert cls.__name__ == f"Nvml{name}"
    error = cls(10)
    for duplicate in (error, pickle.loads(pickle.dumps(error)), copy.copy(error)):
        with pytest.raises(built_in) as caught:
            raise duplicate
        assert caught.value.status == 10 and str(caught.value) == str(error) != ""


# --- releases before 1.0 ---


def test_numbers_of_nvml_are_still_accepted(nvml_device):
    from cuda.bindings import nvml

    with pytest.warns(DeprecationWarning, match="a number for the clock type") as caught:
        clock = nvml_device.get_clock(nvml.ClockType.SM)
    assert caught[0].filename == __file__
    assert clock.get_max_mhz() == nvml_device.get_clock("sm").get_max_mhz()
    with pytest.raises(ValueError, match="Invalid clock type: 77"):
        nvml_device.get_clock(77)


OLD_VALUES = {
    "driver_version": lambda: system.get_user_mode_driver_version(),
    "num_devices": lambda: len(CudaDevice.get_all_devices()),
    "devices": lambda: tuple(CudaDevice.get_all_devices()),
}


@pytest.mark.parametrize("name", OLD_VALUES)
def test_deprecated_values_of_the_module(nvml_device, name):
    with pytest.warns(DeprecationWarning, match=f"cuda.core.system.{name} is deprecated") as caught:
        value = getattr(system, name)
    assert value == OLD_VALUES[name]()
    assert caught[0].filename == __file__
    assert name not in dir(system)


def test_deprecated_functions_of_the_module(nvml_device):
    with pytest.warns(DeprecationWarning, match="get_driver_version is deprecated"):
        assert system.get_driver_version() == system.get_user_mode_driver_version()
    with pytest.warns(DeprecationWarning, match="get_driver_version_full is deprecated"):
        full = system.get_driver_version_full
    assert full() == (*system.get_user_mode_driver_version(), 0)
    assert full(kernel_mode=True)[:2] == system.get_kernel_mode_driver_version()[:2]
    assert len(full(True)) == 3


def test_deprecated_names_of_the_experimental_module():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import cuda.core.experimental as old
    assert old.system is cuda.core.system


@pytest.mark.parametrize(
    "name", ["ClockInfo", "PciInfo", "TemperatureThresholds", "FieldId", "SystemEvents"]
)
def test_helpers_are_found_at_their_old_places_but_not_listed(name):
    assert getattr(system, name).__name__ == name
    assert name not in dir(system) and name not in system.__all__


RENAMED = {
    "is_c2c_mode_enabled": lambda d: d.is_c2c_enabled,
    "persistence_mode_enabled": lambda d: d.is_persistence_mode_enabled,
    "clock('sm').get_max_mhz()": lambda d: d.get_clock("sm").get_max_mhz(),
    "get_auto_boosted_clocks_enabled()": lambda d: d.is_auto_boosted_clocks_enabled,
    "get_current_clock_event_reasons()": lambda d: d.current_clock_event_reasons,
    "get_supported_clock_event_reasons()": lambda d: d.supported_clock_event_reasons,
    "display_mode": lambda d: d.is_display_connected,
    "display_active": lambda d: d.is_display_active,
    "fan(0).speed": lambda d: d.get_fan(0).speed,
    "get_fan(0).set_default_fan_speed()": lambda d: d.get_fan(0).set_default_speed(),
    "get_supported_pstates()": lambda d: d.supported_pstates,
    "pci_info.get_max_pcie_link_generation()": lambda d: d.pci_info.link_generation,
    "pci_info.get_gpu_max_pcie_link_generation()": lambda d: d.pci_info.max_link_generation,
    "pci_info.get_max_pcie_link_width()": lambda d: d.pci_info.max_link_width,
    "pci_info.get_current_pcie_link_generation()": lambda d: d.pci_info.current_link_generation,
    "pci_info.get_current_pcie_link_width()": lambda d: d.pci_info.current_link_width,
    "pci_info.get_pcie_throughput(0)": lambda d: d.pci_info.tx_throughput,
    "pci_info.get_pcie_throughput(1)": lambda d: d.pci_info.rx_throughput,
    "pci_info.get_pcie_replay_counter()": lambda d: d.pci_info.replay_counter,
    "temperature.sensor()": lambda d: d.temperature.get_sensor(),
    "temperature.threshold('gpu_max')": lambda d: d.temperature.get_threshold("gpu_max"),
    "temperature.thermal_settings('gpu')[0].target": lambda d: (
        d.temperature.get_thermal_settings("gpu")[0].target
    ),
}


@pytest.mark.parametrize("old", RENAMED)
@pytest.mark.filterwarnings("ignore:gpu_max is no longer recommended")
def test_deprecated_members_of_objects(nvml_device, sensors, old):
    sensors(pcie_rx=7, pcie_tx=5)
    with pytest.warns(DeprecationWarning, match="is deprecated: use") as caught:
        value = eval(f"device.{old}", {"device": nvml_device})
    assert value == RENAMED[old](nvml_device)
    assert not any("cuda/core" in warning.filename for warning in caught)


def test_the_deprecated_persistence_mode_can_be_set(nvml_device, sensors):
    with pytest.warns(DeprecationWarning, match="use cuda.core.system.Device.is_persistence_mode"):
        nvml_device.persistence_mode_enabled = False
    assert not nvml_device.is_persistence_mode_enabled


def test_an_error_within_a_member_propagates(nvml_device, monkeypatch):
    from cuda.core.system import _nvml_context

    def fail(handle):
        raise AttributeError("of something else")

    monkeypatch.setattr(_nvml_context.nvml, "device_get_serial", fail)
    with pytest.raises(AttributeError, match="of something else"):
        print(nvml_device.serial)


def test_a_replaced_function_of_nvml_is_called(nvml_device, monkeypatch):
    original = (nvml_device.name, nvml_device.memory_info.total, nvml_device.uuid)
    monkeypatch.setattr(nvml, "device_get_name", lambda handle: f"name of {int(handle)}")
    monkeypatch.setattr(nvml, "device_get_memory_info_v2", lambda handle: nvml.Memory_v2())
    monkeypatch.setattr(nvml, "device_get_uuid", lambda handle: "uuid")
    assert nvml_device.name == f"name of {int(nvml_device._handle)}"
    assert nvml_device.memory_info.total == 0
    assert nvml_device.uuid == "uuid"
    monkeypatch.undo()
    assert (nvml_device.name, nvml_device.memory_info.total, nvml_device.uuid) == original


def test_a_function_of_nvml_may_remove_itself(nvml_device, monkeypatch):
    def rename(handle):
        monkeypatch.undo()
        return "first"

    name = nvml_device.name
    monkeypatch.setattr(nvml, "device_get_name", rename)
    del rename
    assert (nvml_device.name, nvml_device.name) == ("first", name)
