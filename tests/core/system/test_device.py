# SPDX-License-Identifier: Apache-2.0
"""Every member of `cuda.core.system.Device`: a value of its type, or not supported by the board."""

import copy
import inspect
import os
import pickle
import re

import pytest
from cuda.bindings import nvml
from cuda.core import Device as CudaDevice
from cuda.core import emulation, system
from cuda.core.system import _nvml_context, typing
from cuda.core.system._device import _words
from cuda.core.system._numbers import brand_name

NUMBER = (int, lambda value: value >= 0)
TEXT = (str, lambda value: value == value.strip() and value)
FLAG = (bool, lambda value: True)
MEMBERS = {
    "index": NUMBER,
    "minor_number": NUMBER,
    "module_id": NUMBER,
    "numa_node_id": NUMBER,
    "uuid": (str, lambda value: re.fullmatch(r"GPU-[0-9a-f]{8}(-[0-9a-f]{4}){3}-.{12}", value)),
    "uuid_without_prefix": (str, lambda value: len(value) == 36),
    "pci_bus_id": (str, lambda value: re.fullmatch(r"[\dA-F]{8}:[\dA-F]{2}:[\dA-F]{2}\.\d", value)),
    "name": TEXT,
    "brand": TEXT,
    "serial": TEXT,
    "arch": (typing.DeviceArch, lambda value: True),
    "cuda_compute_capability": (tuple, lambda value: len(value) == 2 and value >= (5, 0)),
    "is_c2c_enabled": FLAG,
    "is_display_connected": FLAG,
    "is_display_active": FLAG,
    "is_persistence_mode_enabled": FLAG,
    "addressing_mode": ((typing.AddressingMode, type(None)), lambda value: True),
    "attributes": (system.DeviceAttributes, lambda value: value.multiprocessor_count > 0),
    "attributes.memory_size_mb": NUMBER,
    "bar1_memory_info.total": NUMBER,
    "bar1_memory_info.free": NUMBER,
    "bar1_memory_info.used": NUMBER,
    "memory_info.total": NUMBER,
    "memory_info.free": NUMBER,
    "memory_info.used": NUMBER,
    "memory_info.reserved": NUMBER,
    "compute_running_processes": (list, lambda value: True),
    "cooler.signal_type": ((typing.CoolerControl, type(None)), lambda value: True),
    "cooler.target": (list, lambda value: set(value) <= set(typing.CoolerTarget)),
    "current_clock_event_reasons": (list, lambda v: set(v) <= set(typing.ClocksEventReasons)),
    "supported_clock_event_reasons": (list, lambda v: set(v) <= set(typing.ClocksEventReasons)),
    "is_auto_boosted_clocks_enabled": (tuple, lambda value: len(value) == 2),
    "dynamic_pstates_info": (system.GpuDynamicPstatesInfo, lambda value: len(value) == 8),
    "performance_state": ((int, type(None)), lambda value: value is None or 0 <= value <= 15),
    "supported_pstates": (list, lambda value: all(0 <= each <= 15 for each in value)),
    "inforom.image_version": TEXT,
    "inforom.configuration_checksum": NUMBER,
    "inforom.bbx_flush_time": (tuple, lambda value: len(value) == 2),
    "inforom.board_part_number": TEXT,
    "mig.is_mig_device": FLAG,
    "mig.mode": FLAG,
    "mig.pending_mode": FLAG,
    "mig.device_count": NUMBER,
    "num_fans": NUMBER,
    "pci_info.bus": NUMBER,
    "pci_info.bus_id": TEXT,
    "pci_info.device": NUMBER,
    "pci_info.domain": NUMBER,
    "pci_info.vendor_id": (int, lambda value: value == 0x10DE),
    "pci_info.device_id": NUMBER,
    "pci_info.subsystem_id": NUMBER,
    "pci_info.base_class": NUMBER,
    "pci_info.sub_class": NUMBER,
    "pci_info.link_generation": NUMBER,
    "pci_info.max_link_generation": NUMBER,
    "pci_info.max_link_width": NUMBER,
    "pci_info.current_link_generation": NUMBER,
    "pci_info.current_link_width": NUMBER,
    "pci_info.rx_throughput": NUMBER,
    "pci_info.tx_throughput": NUMBER,
    "pci_info.replay_counter": NUMBER,
    "repair_status.channel_repair_pending": FLAG,
    "repair_status.tpc_repair_pending": FLAG,
    "temperature.margin": (int, lambda value: True),
    "utilization.gpu": (int, lambda value: 0 <= value <= 100),
    "utilization.memory": (int, lambda value: 0 <= value <= 100),
}
LACKING = {"serial", "mig.mode", "mig.pending_mode"}  # not supported by the emulated device


def read(device, path):
    """Return the value, or None where the board does not support it and raises as documented."""
    value = device
    try:
        for name in path.split("."):
            value = getattr(value, name)
    except (system.NotSupportedError, system.NoPermissionError, system.NotReadyError):
        assert path in LACKING or not emulation.is_active()
        return None
    assert path not in LACKING or not emulation.is_active()
    return value


@pytest.mark.parametrize("path", MEMBERS)
def test_a_member_has_a_value_of_its_type_or_is_not_supported(nvml_device, path):
    kind, is_right = MEMBERS[path]
    value = read(nvml_device, path)
    is_absent = value is None and (path in LACKING or not emulation.is_active())
    assert is_absent or (isinstance(value, kind) and is_right(value)), value


def test_every_member_is_tested(nvml_device):
    names = {name for name in dir(nvml_device) if not name.startswith("_")}
    properties = {name for name in names if inspect.isdatadescriptor(getattr(system.Device, name))}
    assert properties == {path.partition(".")[0] for path in MEMBERS}


def test_whole_numbers_are_plain_ints(nvml_device):
    numbers = [path for path, (kind, _) in MEMBERS.items() if kind is int]
    types = {path: type(read(nvml_device, path)) for path in numbers}
    assert {kind for kind in types.values() if kind is not type(None)} == {int}


# --- lookup ---


def test_a_device_is_found_by_each_of_its_names(nvml_device):
    uuid, address = nvml_device.uuid, nvml_device.pci_bus_id
    named = [
        {"uuid": uuid},
        {"uuid": uuid.encode()},
        {"uuid": nvml_device.uuid_without_prefix},
        {"uuid": nvml_device.uuid_without_prefix.encode()},
        {"pci_bus_id": address},
        {"pci_bus_id": address.encode()},
        {"index": nvml_device.index},
    ]
    assert {system.Device(**each).uuid for each in named} == {uuid}


@pytest.mark.parametrize(
    ("names", "error", "text"),
    [
        ({}, ValueError, "Handle requires either a device"),
        ({"index": 0, "uuid": "x"}, ValueError, "Handle requires only one of"),
        ({"uuid": "x", "pci_bus_id": "y"}, ValueError, "Handle requires only one of"),
        ({"index": 10**6}, system.InvalidArgumentError, None),
        ({"index": -1}, OverflowError, "-1"),
        ({"index": "0"}, TypeError, "index must be an int, got str"),
        ({"index": 0.0}, TypeError, "index must be an int, got float"),
        ({"uuid": "GPU-00000000-0000-0000-0000-000000000000"}, system.NotFoundError, None),
        ({"uuid": "nothing like it"}, (system.NotFoundError, system.InvalidArgumentError), None),
        ({"uuid": 5}, TypeError, "uuid must be a str or bytes, got int"),
        ({"uuid": b"\xff"}, UnicodeDecodeError, None),
        ({"pci_bus_id": "00007777:66:00.0"}, system.NotFoundError, None),
        ({"pci_bus_id": 5}, TypeError, "pci_bus_id must be a str or bytes, got int"),
        ({"ordinal": 5}, TypeError, "ordinal"),
    ],
)
def test_an_invalid_name_is_refused(nvml_device, names, error, text):
    with pytest.raises(error, match=text):
        system.Device(**names)


def test_positional_arguments_are_refused(nvml_device):
    with pytest.raises(TypeError):
        system.Device(0)


def test_equality_is_identity(nvml_device):
    same = system.Device(index=nvml_device.index)
    assert nvml_device == nvml_device and nvml_device != same
    assert len({nvml_device, same, nvml_device}) == 2


def test_all_devices_come_in_the_order_of_their_indices(nvml_device):
    devices = list(system.Device.get_all_devices())
    assert [each.index for each in devices] == list(range(system.Device.get_device_count()))
    assert system.get_num_devices() == len(devices)


def test_cuda_and_nvml_devices_find_each_other(nvml_device):
    for device in CudaDevice.get_all_devices():
        system_device = device.to_system_device()
        assert system_device.uuid_without_prefix == device.uuid
        assert system_device.to_cuda_device() == device
        assert system_device.name == device.name
        assert system_device.cuda_compute_capability == tuple(device.compute_capability)
        assert system_device.pci_bus_id.endswith(device.pci_bus_id.upper())


def test_pickling_and_copying_give_the_same_device(nvml_device):
    for duplicate in (pickle.loads(pickle.dumps(nvml_device)), copy.copy(nvml_device)):
        assert duplicate.uuid == nvml_device.uuid


def test_the_text_of_a_device_names_it(nvml_device):
    assert repr(nvml_device) == f"<system.Device 0 ({nvml_device.name})>"


def test_only_settable_members_can_be_set(nvml_device):
    with pytest.raises(AttributeError):
        nvml_device.name = "x"
    with pytest.raises(AttributeError):
        nvml_device.something = 1
    with pytest.raises(AttributeError, match="'Device' object has no attribute 'nothing'"):
        print(nvml_device.nothing)


# --- parts ---


def test_memory_of_a_device_adds_up(nvml_device):
    info = nvml_device.memory_info
    assert info.free + info.used + info.reserved == info.total
    assert f"total={info.total}" in repr(info)


def test_allocated_memory_is_in_use(nvml_device):
    device = CudaDevice(0)
    device.set_current()
    stream = device.default_stream
    system_device = device.to_system_device()
    before = system_device.memory_info.used
    with device.allocate(64 << 20, stream=stream):
        stream.sync()
        during = system_device.memory_info.used
    assert 64 << 20 <= during <= system_device.memory_info.total
    # Other processes use a GPU too, and its pool may have had the memory before.
    if emulation.is_active():
        assert during - before >= 64 << 20


def test_this_process_is_listed_once_it_uses_the_device(nvml_device):
    device = CudaDevice(0)
    device.set_current()
    listed = {each.pid: each for each in device.to_system_device().compute_running_processes}
    if os.getpid() not in listed:
        assert not emulation.is_active()  # a container may show the process ids of the host
        return
    own = listed[os.getpid()]
    assert own.used_gpu_memory >= 0
    for name in ("gpu_instance_id", "compute_instance_id"):
        with pytest.raises(system.NotSupportedError):
            getattr(own, name)


def test_clocks(nvml_device):
    for kind in typing.ClockType:
        clock = nvml_device.get_clock(kind)
        assert nvml_device.get_clock(str(kind)).get_max_mhz() == clock.get_max_mhz() > 0
        assert 0 <= clock.get_current_mhz() <= clock.get_max_mhz() * 2
    lowest, highest = None, None
    for state in nvml_device.supported_pstates:
        lowest, highest = nvml_device.get_clock("sm").get_min_max_clock_of_pstate_mhz(state)
    assert lowest is None or 0 <= lowest <= highest


@pytest.mark.parametrize("state", [-1, 16, 32])
def test_a_performance_state_is_0_to_15(nvml_device, state):
    clock = nvml_device.get_clock("graphics")
    text = f"Invalid P-state: {state}. Must be between 0 and 15 inclusive."
    for ask in (clock.get_min_max_clock_of_pstate_mhz, clock.get_offsets):
        with pytest.raises(ValueError, match=re.escape(text)):
            ask(state)
        with pytest.raises(TypeError, match="pstate must be an int, got str"):
            ask("0")


def test_offsets_of_clocks(nvml_device):
    try:
        offsets = nvml_device.get_clock("graphics").get_offsets(0)
    except system.NotSupportedError:
        assert not emulation.is_active()
        return
    assert offsets.min_offset_mhz <= offsets.clock_offset_mhz <= offsets.max_offset_mhz


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda d, x: d.get_clock(x), "Invalid clock type: "),
        (lambda d, x: d.get_clock("sm").get_current_mhz(x), "Invalid clock ID: "),
        (lambda d, x: d.temperature.get_threshold(x), "Invalid temperature threshold type: "),
        (lambda d, x: d.temperature.get_thermal_settings(x), "Invalid thermal sensor index: "),
        (lambda d, x: d.get_cpu_affinity(x), "Invalid affinity scope: "),
        (lambda d, x: d.get_memory_affinity(x), "Invalid affinity scope: "),
        (lambda d, x: d.inforom.get_version(x), "Invalid InfoROM object: "),
        (lambda d, x: d.get_topology_nearest_gpus(x), "Invalid topology level: "),
        (lambda d, x: system.get_p2p_status(d, d, x), "Invalid P2P caps index: "),
    ],
)
@pytest.mark.parametrize("value", ["nothing", "", None, True, 1.0, [], "SM"])
def test_an_invalid_member_of_an_enum_lists_the_valid_ones(nvml_device, call, text, value):
    with pytest.raises(ValueError, match=text) as caught:
        call(nvml_device, value)
    assert "Must be one of [<" in str(caught.value)


def test_fans(nvml_device):
    count = nvml_device.num_fans
    for index in range(count):
        assert 0 <= nvml_device.get_fan(index).speed <= 100
    for index in (-1, count, 10**9):
        text = re.escape(f"Fan index {index} is out of range [0, {count})")
        with pytest.raises(ValueError, match=text):
            nvml_device.get_fan(index)


@pytest.mark.filterwarnings("ignore:.*is no longer recommended")
def test_temperatures(nvml_device):
    assert -40 < nvml_device.temperature.get_sensor() < 150
    for name in typing.TemperatureThresholds:
        try:
            value = nvml_device.temperature.get_threshold(name)
        except system.NotSupportedError:
            continue
        assert -40 < value < 200


def test_thresholds_that_are_fields_now_warn(nvml_device):
    if nvml_device.arch < typing.DeviceArch.ADA:
        pytest.skip("only Ada and later devices warn")
    with pytest.warns(
        DeprecationWarning, match="no longer recommended for Ada and later"
    ) as caught:
        nvml_device.temperature.get_threshold("slowdown")
    assert caught[0].filename == __file__ and "get_field_values" in str(caught[0].message)


def test_thermal_settings_are_a_sequence(nvml_device):
    try:
        settings = nvml_device.temperature.get_thermal_settings("gpu")
    except system.NotSupportedError:
        assert not emulation.is_active()
        return
    assert all(each.target in typing.ThermalTarget for each in settings)
    for index in (-1, len(settings)):
        with pytest.raises(IndexError):
            settings[index]
    with pytest.raises(TypeError, match="an index must be an int, got slice"):
        settings[:]


def test_parts_of_dynamic_states(nvml_device):
    info = nvml_device.dynamic_pstates_info
    assert [type(each.is_present) for each in info] == [bool] * 8
    assert all(0 <= each.percentage <= 100 for each in info if each.is_present)
    for index in (-1, 8):
        with pytest.raises(IndexError):
            info[index]


def test_a_damaged_inforom_is_reported(nvml_device, monkeypatch):
    def find_damage(handle):
        assert int(handle) == int(nvml_device._handle)
        raise nvml.CorruptedInforomError(nvml.Return.ERROR_CORRUPTED_INFOROM)

    monkeypatch.setattr(_nvml_context.nvml, "device_validate_inforom", find_damage)
    with pytest.raises(system.CorruptedInforomError):
        nvml_device.inforom.validate()


def test_inforom_is_whole(nvml_device):
    try:
        nvml_device.inforom.validate()
    except system.NotSupportedError:
        assert not emulation.is_active()
    versions = {}
    for part in typing.InforomObject:
        try:
            versions[part] = nvml_device.inforom.get_version(part)
        except system.NotSupportedError:
            versions[part] = None
    assert all(version is None or version for version in versions.values())
    assert any(versions.values()) or not emulation.is_active()


def test_a_device_without_partitions_has_no_instances(nvml_device):
    if read(nvml_device, "mig.mode"):
        pytest.skip("the device is divided")
    assert not nvml_device.mig.is_mig_device
    assert list(nvml_device.mig.get_all_devices()) == []
    with pytest.raises(system.NvmlError):
        nvml_device.mig.get_device_by_index(0)
    with pytest.raises(system.NvmlError):
        print(nvml_device.mig.parent)


# --- fields ---


def test_an_unsupported_field_hides_no_other(nvml_device):
    instant, unsupported = typing.FieldId.DEV_POWER_INSTANT, 1 << 20
    values = nvml_device.get_field_values([instant, unsupported, (instant, 0)])
    assert len(values) == len(list(values)) == 3
    assert isinstance(values[0].value, int) and values[-1].value > 0
    assert values[0].field_id is instant and values[0].scope_id == 0
    assert values[0].timestamp > 1_600_000_000_000_000 and values[0].latency_usec >= 0
    for access in (lambda: values[1].value, values.validate, values.get_all_values):
        with pytest.raises(system.NvmlError):
            access()
    nvml_device.get_field_values([instant]).validate()
    assert nvml_device.get_field_values([instant]).get_all_values()[0] > 0
    for index in (3, -4):
        with pytest.raises(IndexError):
            values[index]


def test_no_fields_are_no_error(nvml_device):
    assert len(nvml_device.get_field_values([])) == 0
    nvml_device.clear_field_values([])


@pytest.mark.parametrize("fields", ["x", b"x", 82, None])
def test_fields_are_passed_in_a_list(nvml_device, fields):
    for call in (nvml_device.get_field_values, nvml_device.clear_field_values):
        with pytest.raises(TypeError, match="field_ids must be a list of field IDs"):
            call(fields)


@pytest.mark.parametrize("field", [[None], ["x"], [(1, 2, 3)], [1.5]])
def test_an_invalid_field_is_refused(nvml_device, field):
    with pytest.raises((ValueError, TypeError)):
        nvml_device.get_field_values(field)


# --- topology ---


def test_processors_near_a_device_exist(nvml_device):
    near = nvml_device.get_cpu_affinity()
    assert near == sorted(set(near)) and near
    assert set(near) <= set(range(os.cpu_count()))
    assert set(near) <= set(nvml_device.get_cpu_affinity("socket"))
    assert all(node >= 0 for node in nvml_device.get_memory_affinity())
    uuids = [each.uuid for each in system.Device.get_all_devices_with_cpu_affinity(near[0])]
    assert nvml_device.uuid in uuids


@pytest.mark.parametrize(
    ("processors", "words"), [(None, 1), (1, 1), (64, 1), (65, 2), (128, 2), (129, 3)]
)
def test_a_set_of_processors_has_a_bit_for_each(monkeypatch, processors, words):
    monkeypatch.setattr(os, "cpu_count", lambda: processors)
    assert _words() == words


def test_a_thread_can_be_bound_near_a_device(nvml_device, in_new_thread):
    allowed = os.sched_getaffinity(0)

    def stay_near():
        os.sched_setaffinity(0, {min(allowed)})
        nvml_device.set_cpu_affinity()
        near = os.sched_getaffinity(0)
        nvml_device.clear_cpu_affinity()
        return near

    assert in_new_thread(stay_near) == allowed & set(nvml_device.get_cpu_affinity())


@pytest.mark.parametrize("number", sorted({int(member) for member in nvml.BrandType}))
def test_a_product_line_has_a_name_of_nvml(number):
    names = [name for name, member in nvml.BrandType.__members__.items() if member == number]
    is_known = not {"UNKNOWN", "COUNT"} & set(names)
    text = brand_name(number).upper().replace(" ", "_")
    assert text in names if is_known else text == "UNKNOWN"


def test_nvlinks(nvml_device):
    count = nvml_device.get_nvlink_count()
    links = list(nvml_device.get_nvlinks())
    assert len(links) == count
    assert all(type(link.state) is bool for link in links)
    assert all(link.version >= (1, 0) for link in links if link.state)
    for index in (-1, count):
        text = re.escape(f"Link index {index} is out of range [0, {count})")
        with pytest.raises(ValueError, match=text):
            nvml_device.get_nvlink(index)


def test_the_maximum_number_of_links_is_deprecated():
    with pytest.warns(DeprecationWarning, match="get_nvlink_count"):
        assert system.NvlinkInfo.max_links == 18


def test_a_device_and_itself_are_one_board(nvml_device):
    try:
        ancestor = system.get_topology_common_ancestor(nvml_device, nvml_device)
    except system.NotSupportedError:  # in a virtual machine
        assert not emulation.is_active()
    else:
        assert ancestor is typing.GpuTopologyLevel.INTERNAL
    for level in typing.GpuTopologyLevel:
        try:
            near = list(nvml_device.get_topology_nearest_gpus(level))
        except (system.NotSupportedError, system.InvalidArgumentError):
            assert not emulation.is_active()
            continue
        assert all(isinstance(each, system.Device) for each in near)


@pytest.mark.parametrize("wrong", [None, 0, "0"])
def test_another_type_has_no_topology(nvml_device, wrong):
    with pytest.raises(TypeError, match="device2 must be a cuda.core.system.Device"):
        system.get_topology_common_ancestor(nvml_device, wrong)
    with pytest.raises(TypeError, match="device1 must be a cuda.core.system.Device"):
        system.get_p2p_status(wrong, nvml_device, "read")
