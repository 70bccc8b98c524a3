# SPDX-License-Identifier: Apache-2.0
"""Objects over structures of NVML: each member reads its own field, and texts name the object."""

import ctypes
import os
from types import SimpleNamespace

import pytest
from cuda.bindings import driver, nvml
from cuda.core import system
from cuda.core.system import _numbers, _nvml_context, _old_spellings, _system, typing

ATTRIBUTES = (
    "multiprocessor_count",
    "shared_copy_engine_count",
    "shared_decoder_count",
    "shared_encoder_count",
    "shared_jpeg_count",
    "shared_ofa_count",
    "gpu_instance_slice_count",
    "compute_instance_slice_count",
    "memory_size_mb",
)


def of_data(cls, **fields):
    """Return an object of a class over a structure with the given fields."""
    instance = cls.__new__(cls)
    instance._data = SimpleNamespace(**fields)
    return instance


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_attributes_of_a_device_are_fields_of_the_structure(name):
    fields = {each: 100 + number for number, each in enumerate(ATTRIBUTES)}
    assert getattr(of_data(system.DeviceAttributes, **fields), name) == fields[name]


def test_fields_of_a_pci_address():
    data = SimpleNamespace(
        domain=1,
        bus=2,
        device_=3,
        bus_id="0001:02:03.0",
        pci_device_id=0x233510DE,
        pci_sub_system_id=0x18BE10DE,
        base_class=3,
        sub_class=2,
    )
    info = system.PciInfo(0, data)
    assert (info.domain, info.bus, info.device, info.bus_id) == (1, 2, 3, "0001:02:03.0")
    assert (info.vendor_id, info.device_id) == (0x10DE, 0x2335)
    assert (info.subsystem_id, info.base_class, info.sub_class) == (0x18BE10DE, 3, 2)


def test_a_device_that_does_not_exist_is_noted(nvml_device):
    count = system.get_num_devices()
    with pytest.raises(system.NvmlError) as caught:
        system.Device(index=count)
    note = f"NVML has no device {count}; it has {count}, with indices from 0"
    assert note in caught.value.__notes__


def test_event_types_unknown_to_this_release_are_left_out(nvml_device, monkeypatch):
    known = nvml.EventType.XID_CRITICAL_ERROR | nvml.EventType.PSTATE
    mask = int(known) | 1 << 60
    monkeypatch.setattr(nvml, "device_get_supported_event_types", lambda handle: mask)
    types = nvml_device.get_supported_event_types()
    assert sorted(map(str, types)) == ["pstate", "xid_critical_error"]


def test_nvml_counts_the_devices(nvml_device, monkeypatch):
    monkeypatch.setattr(nvml, "device_get_count_v2", lambda: 7)
    assert system.get_num_devices() == 7


# nvmlValueType_t: the members of nvmlValue_t
MEMBERS = ("d_val", "ui_val", "ul_val", "ull_val", "sll_val", "si_val", "us_val")


@pytest.mark.parametrize("kind", [-1, *range(8)])
def test_the_type_of_a_field_selects_the_member_of_its_value(kind):
    values = {name: [10 + number] for number, name in enumerate(MEMBERS)}
    data = {"nvml_return": 0, "value_type": kind, "value": SimpleNamespace(**values)}
    field = of_data(system.FieldValue, **data)
    if kind in range(len(MEMBERS)):
        assert field.value == 10 + kind
    else:
        with pytest.raises(RuntimeError, match=f"a value of unknown type {kind}$"):
            print(field.value)


def test_indices_of_sequences_count_from_both_ends(nvml_device):
    fields = [typing.FieldId.DEV_POWER_INSTANT, typing.FieldId.DEV_POWER_AVERAGE]
    values = nvml_device.get_field_values(fields)
    events = of_data(system.SystemEvents, gpu_id=0)
    events._data = [SimpleNamespace(gpu_id=10), SimpleNamespace(gpu_id=11)]
    assert [values[i].field_id for i in (0, 1, -1, -2)] == [*fields, *fields[::-1]]
    assert [events[i].gpu_id for i in (0, 1, -1, -2)] == [10, 11, 11, 10]
    for sequence in (values, events):
        for wrong in (2, -3):
            with pytest.raises(IndexError, match="index is out of bounds"):
                sequence[wrong]


def test_positions_of_bits_in_several_words():
    words = (1 | 1 << 63, 0, 1 << 5)
    assert _numbers.indices_of_bits(words) == [0, 63, 2 * 64 + 5]


@pytest.mark.parametrize(("number", "is_field"), [(7, False), (8, True), (9, True)])
def test_thresholds_are_fields_from_ada_on(nvml_device, monkeypatch, recwarn, number, is_field):
    monkeypatch.setattr(nvml, "device_get_architecture", lambda handle: number)
    nvml_device.temperature.get_threshold("shutdown")
    assert [each.category for each in recwarn] == [DeprecationWarning] * is_field
    assert all(each.filename == __file__ for each in recwarn)


def test_digits_of_the_version_of_cuda(nvml_device, monkeypatch):
    monkeypatch.setattr(nvml, "system_get_cuda_driver_version_v2", lambda: 12047)
    assert system.get_user_mode_driver_version() == (12, 4)


def test_the_full_version_has_three_numbers(nvml_device, monkeypatch):
    monkeypatch.setattr(nvml, "system_get_cuda_driver_version_v2", lambda: 12047)
    assert _old_spellings.get_driver_version_full() == (12, 4, 0)


@pytest.mark.parametrize(("status", "version"), [("SUCCESS", 12040), ("ERROR_UNKNOWN", 0)])
def test_a_failed_query_of_the_driver_returns_0(monkeypatch, status, version):
    result = driver.CUresult[f"CUDA_{status}"], 12040
    monkeypatch.setattr(driver, "cuDriverGetVersion", lambda: result)
    assert _system._query_driver("cuDriverGetVersion") == version


def test_a_repair_is_pending_for_channels_and_clusters_apart():
    status = of_data(system.RepairStatus, b_channel_repair_pending=1, b_tpc_repair_pending=0)
    assert (status.channel_repair_pending, status.tpc_repair_pending) == (True, False)
    assert repr(status) == "<RepairStatus channel_repair_pending=True tpc_repair_pending=False>"


@pytest.mark.parametrize(
    ("find", "text"),
    [
        (lambda device: device.pci_info, "<PciInfo {bus_id}>"),
        (lambda device: system.NvlinkInfo(device, 3), "<NvlinkInfo 3>"),
        (lambda device: device.get_fan(), "<FanInfo 0>"),
        (lambda device: device.get_clock("memory"), "<ClockInfo 'memory'>"),
        (lambda device: device.temperature, "<Temperature>"),
        (lambda device: device.temperature.get_thermal_settings("gpu"), "<ThermalSettings of 1>"),
        (lambda device: device.get_field_values([]), "<FieldValues of 0>"),
        (lambda device: device.register_events([]), "<DeviceEvents>"),
    ],
)
def test_texts_of_components(nvml_device, find, text):
    assert repr(find(nvml_device)) == text.format(bus_id=nvml_device.pci_info.bus_id)


def test_texts_of_events_and_values():
    event = of_data(system.EventData, event_type=nvml.EventType.XID_CRITICAL_ERROR)
    assert repr(event) == "<EventData xid_critical_error>"
    added = of_data(system.SystemEvent, event_type=nvml.SystemEventType.GPU_DRIVER_BIND, gpu_id=0)
    assert repr(added) == "<SystemEvent bind 00000000:00:00.0>"
    failed = of_data(system.FieldValue, nvml_return=3, field_id=7)
    assert repr(failed) == "<FieldValue 7 status=3>"
    value = SimpleNamespace(ui_val=[5])
    read = of_data(system.FieldValue, nvml_return=0, field_id=8, value_type=1, value=value)
    assert repr(read) == "<FieldValue 8 value=5>"


def test_a_lost_device_has_a_text(nvml_device, monkeypatch):
    def fail(handle):
        raise nvml.GpuIsLostError(15)

    monkeypatch.setattr(nvml, "device_get_index", fail)
    monkeypatch.setattr(nvml, "device_get_name", fail)
    assert repr(nvml_device).startswith("<system.Device (name unavailable: ")


def test_a_device_without_nvlink_has_no_link(nvml_device, monkeypatch):
    unsupported = SimpleNamespace(nvml_return=nvml.Return.ERROR_NOT_SUPPORTED)
    monkeypatch.setattr(nvml, "device_get_field_values", lambda handle, fields: [unsupported])
    assert nvml_device.get_nvlink_count() == 0
    assert list(nvml_device.get_nvlinks()) == []


class TestPartitions:
    def test_the_pending_mode_follows_the_current_one(self, nvml_device, monkeypatch):
        for current, pending in ((0, 1), (1, 0)):
            modes = current, pending
            monkeypatch.setattr(nvml, "device_get_mig_mode", lambda handle, modes=modes: modes)
            assert (nvml_device.mig.mode, nvml_device.mig.pending_mode) == (current, pending)

    def test_indices_without_a_device_are_left_out(self, nvml_device, monkeypatch):
        def handle_of(handle, index):
            if index in (1, 3):
                raise nvml.NotFoundError(6)
            return 1000 + index

        monkeypatch.setattr(nvml, "device_get_max_mig_device_count", lambda handle: 5)
        monkeypatch.setattr(nvml, "device_get_mig_device_handle_by_index", handle_of)
        handles = [each._handle for each in nvml_device.mig.get_all_devices()]
        assert handles == [1000, 1002, 1004]

    @pytest.mark.parametrize("name", ["gpu_instance_id", "compute_instance_id"])
    def test_a_process_has_instances_on_a_mig_device_only(self, nvml_device, monkeypatch, name):
        data = SimpleNamespace(
            pid=7, used_gpu_memory=4096, gpu_instance_id=11, compute_instance_id=12
        )
        process = system.ProcessInfo(nvml_device, data)
        assert repr(process) == "<ProcessInfo pid=7 used_gpu_memory=4096>"
        with pytest.raises(system.NotSupportedError):
            getattr(process, name)
        monkeypatch.setattr(nvml, "device_is_mig_device_handle", lambda handle: 1)
        assert getattr(system.ProcessInfo(nvml_device, data), name) == getattr(data, name)


class TestInitialization:
    def test_a_machine_without_devices_is_an_error(self, nvml_device, monkeypatch):
        _nvml_context.validate()
        monkeypatch.setattr(nvml, "device_get_count_v2", lambda: 0)
        with pytest.raises(system.NotFoundError) as caught:
            _nvml_context.validate()
        assert caught.value.status == nvml.Return.ERROR_NOT_FOUND == 6

    def test_validation_initializes(self, run_python):
        code = """
from cuda.core.system import _nvml_context
_nvml_context.validate()
print(_nvml_context.is_initialized())
"""
        assert run_python(code).strip() == "True"

    def test_a_failed_release_is_reported(self, capsys):
        def set_free(handle):
            raise nvml.UninitializedError(1)

        _nvml_context.release(set_free, 5, os.getpid())
        printed = capsys.readouterr().err
        assert printed.startswith("halfwarp: set_free failed: ")
        _nvml_context.release(set_free, 5, os.getpid() + 1)  # the set of another process
        assert capsys.readouterr().err == ""


class TestProcessNames:
    def test_a_failing_device_hides_no_process(self, nvml_device, monkeypatch):
        def handle_of(index):
            if index == 0:
                raise nvml.GpuIsLostError(15)
            listed.append(index)

        listed = []
        monkeypatch.setattr(nvml, "device_get_count_v2", lambda: 3)
        monkeypatch.setattr(nvml, "device_get_handle_by_index_v2", handle_of)
        monkeypatch.setattr(nvml, "device_get_compute_running_processes_v3", lambda handle: [])
        monkeypatch.setattr(nvml, "system_get_process_name", lambda pid: f"name of {pid}")
        assert system.get_process_name(12) == "name of 12"
        assert listed == [1, 2]

    @pytest.mark.parametrize("release", ["5.15.90.1-microsoft-standard-WSL2", "6.1.0"])
    def test_wsl_is_queried_in_the_plain_locale(self, monkeypatch, release):
        def encoding():
            return library.nl_langinfo(14).decode()  # CODESET

        library = ctypes.CDLL(None)
        library.nl_langinfo.restype = ctypes.c_char_p
        before = encoding()
        monkeypatch.setattr(os, "uname", lambda: SimpleNamespace(release=release))
        is_plain = _system._in_plain_locale(encoding) == "ANSI_X3.4-1968"
        assert is_plain == (release != "6.1.0" or before == "ANSI_X3.4-1968")
        assert encoding() == before
