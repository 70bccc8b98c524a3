# SPDX-License-Identifier: Apache-2.0
"""NVML's functions over a C library whose results each test defines."""

import ctypes
import pickle

import pytest
from cuda.bindings import nvml

HANDLE, POINTER = ctypes.c_uint64, ctypes.c_void_p
NUMBER, COUNT = ctypes.c_uint, ctypes.POINTER(ctypes.c_uint)


def write(address, data):
    ctypes.memmove(address, bytes(data), len(bytes(data)))


def read(address, cls):
    return cls.from_ptr(address)


# --- numbers and texts ---------------------------------------------------------------------------


def test_one_number_is_returned_alone_and_several_as_a_tuple(put):
    put("nvmlDeviceGetCount_v2", lambda n: write(n, b"\x03\0\0\0"), POINTER)
    assert nvml.device_get_count_v2() == 3

    def capability(device, major, minor):
        write(major, b"\x09\0\0\0")
        write(minor, bytes(4))

    put("nvmlDeviceGetCudaComputeCapability", capability, HANDLE, POINTER, POINTER)
    assert nvml.device_get_cuda_compute_capability(1) == (9, 0)


def test_a_text_fills_a_buffer_of_the_size_stated_in_the_header(put):
    sizes = []

    def name(device, buffer, length):
        sizes.append(length)
        write(buffer, b"NVIDIA H200\0")

    put("nvmlDeviceGetName", name, HANDLE, POINTER, NUMBER)
    assert (nvml.device_get_name(1), sizes) == ("NVIDIA H200", [96])


def test_a_text_of_unknown_length_is_queried_twice(put):
    sizes = []

    def class_of(type_id, text, size):
        sizes.append(size[0])
        if not text:
            size[0] = 5
            return 7
        write(text, b"NVS\0")

    put("nvmlVgpuTypeGetClass", class_of, NUMBER, POINTER, COUNT)
    assert nvml.vgpu_type_get_class(1) == "NVS"
    assert sizes[0] == 0 and sizes[1] >= 5


# --- structs -------------------------------------------------------------------------------------


def test_a_struct_is_filled_by_the_call(put):
    put(
        "nvmlDeviceGetUtilizationRates",
        lambda device, p: write(p, nvml.Utilization(gpu=50, memory=7)),
        HANDLE,
        POINTER,
    )
    assert nvml.device_get_utilization_rates(1) == nvml.Utilization(gpu=50, memory=7)


def test_the_version_of_a_struct_is_set(put):
    seen = []

    def info(device, p):
        seen.append(read(p, nvml.Memory_v2).version)
        write(p, nvml.Memory_v2(version=seen[0], total=100))

    put("nvmlDeviceGetMemoryInfo_v2", info, HANDLE, POINTER)
    assert nvml.device_get_memory_info_v2(1).total == 100
    assert seen == [40 | 2 << 24]


def test_arguments_are_set_in_the_struct_and_one_field_is_returned(put):
    seen = []

    def speed(device, p):
        words = (ctypes.c_uint * 3).from_address(p)
        seen.append(list(words))
        words[2] = 1500

    put("nvmlDeviceGetFanSpeedRPM", speed, HANDLE, POINTER)
    assert nvml.device_get_fan_speed_rpm(1, fan=2) == 1500
    assert seen == [[12 | 1 << 24, 2, 0]]
    with pytest.raises(OverflowError, match=r"device_get_fan_speed_rpm\(\) argument 'fan'"):
        nvml.device_get_fan_speed_rpm(1, -1)


def test_an_input_struct_needs_no_object(put):
    seen = []
    put(
        "nvmlSystemRegisterEvents",
        lambda p: seen.append(list((ctypes.c_uint64 * 3).from_address(p))[1:]),
        POINTER,
    )
    assert nvml.system_register_events(5, 77) is None
    assert seen == [[5, 77]]


def test_an_older_driver_receives_the_older_struct(put):
    versions = []

    def info(device, p):
        version = ctypes.c_uint.from_address(p).value
        versions.append(version >> 24)
        if version >> 24 == 2:
            return 25
        write(p, nvml.NvLinkInfo_v1(version=version, is_nvle_enabled=1))

    put("nvmlDeviceGetNvLinkInfo", info, HANDLE, POINTER)
    result = nvml.device_get_nvlink_info(1)
    assert (type(result), result.is_nvle_enabled, versions) == (nvml.NvLinkInfo_v1, 1, [2, 1])


def test_structs_are_passed_as_objects_or_addresses(put, record):
    seen = record("nvmlDeviceSetClockOffsets", 2)
    info = nvml.ClockOffset_v1()
    nvml.device_set_clock_offsets(1, info)
    nvml.device_set_clock_offsets(1, info.ptr)
    nvml.device_set_clock_offsets(1, None)
    assert [address for _, address in seen] == [info.ptr, info.ptr, None]
    with pytest.raises(TypeError, match=r"expected ClockOffset_v1 or its address, got .*Memory"):
        nvml.device_set_clock_offsets(1, nvml.Memory())


# --- arrays --------------------------------------------------------------------------------------


def processes(n, code=7):
    """Return a C function that reports `n` processes."""

    def fill(device, count, infos):
        if not infos:
            count[0] = n
            return code if n else 0
        room, count[0] = count[0], n
        assert room >= n
        write(infos, nvml.ProcessInfo(n, pid=range(100, 100 + n)))

    return fill


@pytest.mark.parametrize("n", [0, 1, 20])
def test_an_array_has_the_reported_length(put, n):
    put("nvmlDeviceGetComputeRunningProcesses_v3", processes(n), HANDLE, COUNT, POINTER)
    result = nvml.device_get_compute_running_processes_v3(1)
    assert (type(result), len(result)) == (nvml.ProcessInfo, n)
    assert [p.pid for p in result] == list(range(100, 100 + n))


def test_elements_added_between_the_calls_are_queried_again(put):
    lengths, calls = iter([2, 3, 3]), []

    def fill(device, count, pids):
        calls.append(count[0])
        count[0], room = next(lengths, 3), count[0]
        if not pids or room < count[0]:
            return 7
        write(pids, b"".join(i.to_bytes(4, "little") for i in range(3)))

    put("nvmlDeviceGetAccountingPids", fill, HANDLE, COUNT, POINTER)
    assert nvml.device_get_accounting_pids(1).tolist() == [0, 1, 2]
    assert calls == [0, 2, 0, 3]


def test_a_length_that_keeps_growing_is_an_error(put):
    calls = []

    def fill(device, count, pids):
        calls.append(count[0])
        count[0] += 1
        return 7

    put("nvmlDeviceGetAccountingPids", fill, HANDLE, COUNT, POINTER)
    with pytest.raises(nvml.InsufficientSizeError):
        nvml.device_get_accounting_pids(1)
    assert len(calls) == 10


def test_a_length_unchanged_by_the_second_call_is_valid(put):
    def fill(cpu, count, devices):
        if not devices:
            count[0] = 1
            return 0
        write(devices, (77).to_bytes(8, "little"))

    put("nvmlSystemGetTopologyGpuSet", fill, NUMBER, COUNT, POINTER)
    assert nvml.system_get_topology_gpu_set(0).tolist() == [77]


@pytest.mark.parametrize(("first", "calls"), [(0, 1), (7, 2)])
def test_an_empty_list_is_queried_once_unless_the_size_is_insufficient(put, first, calls):
    addresses = []

    def fill(device, count, pids):
        addresses.append(pids)
        count[0] = 0
        return 0 if pids else first

    put("nvmlDeviceGetAccountingPids", fill, HANDLE, COUNT, POINTER)
    assert nvml.device_get_accounting_pids(1).tolist() == []
    assert len(addresses) == calls and addresses[0] is None and all(addresses[1:])


def test_instances_are_listed_by_one_call_with_maximal_size(put):
    calls = []

    def fill(device, profile, instances, count):
        calls.append(count[0])
        write(instances, b"".join(i.to_bytes(8, "little") for i in (5, 6)))
        count[0] = 2

    put("nvmlDeviceGetGpuInstances", fill, HANDLE, NUMBER, POINTER, COUNT)
    assert nvml.device_get_gpu_instances(1, 0).tolist() == [5, 6]
    assert calls == [64]


def test_a_struct_with_a_variable_tail_has_memory_for_it(put):
    tail = bytes(range(256)) * 2

    def fill(instance, metadata, size):
        capacity, size[0] = size[0], len(tail)
        if capacity < len(tail):
            return 7
        write(metadata, tail)

    put("nvmlVgpuInstanceGetMetadata", fill, NUMBER, POINTER, COUNT)
    result = nvml.vgpu_instance_get_metadata(1)
    assert bytes(result) == tail[: len(bytes(result))]
    assert ctypes.string_at(result.ptr, len(tail)) == tail


def test_numbers_are_arrays_with_the_buffer_protocol(put):
    def clocks(device, memory, count, values):
        if values:
            write(values, b"".join(c.to_bytes(4, "little") for c in (1980, 1965)))
        count[0] = 2
        return 0 if values else 7

    put("nvmlDeviceGetSupportedGraphicsClocks", clocks, HANDLE, NUMBER, COUNT, POINTER)
    result = nvml.device_get_supported_graphics_clocks(1, 2619)
    assert result.tolist() == [1980, 1965]
    assert (memoryview(result).format, result[1], result[:1].tolist()) == ("I", 1965, [1980])


def test_an_error_of_the_first_call_is_raised(put):
    put("nvmlDeviceGetAccountingPids", lambda *_: 3, HANDLE, COUNT, POINTER)
    with pytest.raises(nvml.NotSupportedError):
        nvml.device_get_accounting_pids(1)


def test_an_array_of_a_requested_length(put):
    put(
        "nvmlDeviceGetCpuAffinity",
        lambda device, n, mask: write(mask, b"".join(i.to_bytes(8, "little") for i in range(n))),
        HANDLE,
        NUMBER,
        POINTER,
    )
    assert nvml.device_get_cpu_affinity(1, 4).tolist() == [0, 1, 2, 3]


def test_an_array_inside_a_struct_is_fetched_with_it(put):
    def details(device, p):
        info = nvml.ProcessDetailList_v1.from_ptr(p, owner=p)
        assert (info.version >> 24, info.mode) == (1, 2)
        count = ctypes.c_uint.from_address(p + 8)
        address = ctypes.c_uint64.from_address(p + 16).value
        if not address:
            count.value = 2
            return 7
        count.value = 2
        write(address, nvml.ProcessDetail_v1(2, pid=[8, 9]))

    put("nvmlDeviceGetRunningProcessDetailList", details, HANDLE, POINTER)
    result = nvml.device_get_running_process_detail_list(1, 2)
    assert result.proc_array.pid.tolist() == [8, 9]


def test_an_empty_array_inside_a_struct_is_queried_once(put):
    calls = []
    put(
        "nvmlDeviceGetRunningProcessDetailList", lambda *words: calls.append(words), HANDLE, POINTER
    )
    assert nvml.device_get_running_process_detail_list(1, 2).proc_array == []
    assert len(calls) == 1


def test_topology_accepts_the_old_and_the_new_keyword(put):
    def gpus(cpu, count, devices):
        count[0] = 1
        if devices:
            write(devices, (4 + cpu).to_bytes(8, "little"))
        return 0 if devices else 7

    put("nvmlSystemGetTopologyGpuSet", gpus, NUMBER, COUNT, POINTER)
    for value in ({"cpu_number": 1}, {"cpuNumber": 1}):
        assert nvml.system_get_topology_gpu_set(**value) == [5]
    assert nvml.system_get_topology_gpu_set(1)[0] == 5
    with pytest.raises(TypeError):
        nvml.system_get_topology_gpu_set(cpu_number=1, cpuNumber=1)


# --- handwritten functions
# -------------------------------------------------------------------------


@pytest.fixture
def field_values(put):
    """Return each field's number, doubled."""

    def fill(device, n, p):
        fields = nvml.FieldValue.from_ptr(p, n, owner=p)
        for field in fields:
            field.value[0].ui_val = 2 * field.field_id + field.scope_id

    put("nvmlDeviceGetFieldValues", fill, HANDLE, ctypes.c_int, POINTER)


def test_fields_are_queried_by_number_with_a_scope_or_as_an_array(field_values):
    result = nvml.device_get_field_values(1, [5, (6, 1)])
    assert result.value.ui_val.tolist() == [10, 13]
    repeated = nvml.device_get_field_values(1, result)
    assert repeated is result


@pytest.mark.parametrize("nothing", [[], (), nvml.FieldValue(0)], ids=["list", "tuple", "array"])
def test_no_fields_are_not_queried(put, nothing):
    put("nvmlDeviceGetFieldValues", lambda *_: 2, HANDLE, ctypes.c_int, POINTER)
    put("nvmlDeviceClearFieldValues", lambda *_: 2, HANDLE, ctypes.c_int, POINTER)
    assert len(nvml.device_get_field_values(1, nothing)) == 0
    nvml.device_clear_field_values(1, nothing)


def test_a_short_nonce_is_padded(put):
    seen = []

    def report(device, p):
        seen.append(bytes(nvml.ConfComputeGpuAttestationReport.from_ptr(p, owner=p).nonce))

    put("nvmlDeviceGetConfComputeGpuAttestationReport", report, HANDLE, POINTER)
    for nonce in (b"", b"abc", bytes(range(32))):
        nvml.device_get_conf_compute_gpu_attestation_report(1, nonce)
    assert seen == [bytes(32), b"abc" + bytes(29), bytes(range(32))]
    with pytest.raises(ValueError, match="Expected length 32 for field nonce, got 33"):
        nvml.device_get_conf_compute_gpu_attestation_report(1, bytes(33))


@pytest.mark.parametrize("values", [["a"], [(1, 2, 3)], 5, None, [None], "ab"])
def test_other_fields_are_refused(field_values, values):
    with pytest.raises(ValueError, match="field identifier"):
        nvml.device_get_field_values(1, values)


def test_events_are_returned_as_an_array_of_the_received_ones(put):
    def wait(p):
        request = (ctypes.c_uint64 * 5).from_address(p)
        assert request[3] & 0xFFFFFFFF == 4
        write(request[2], nvml.SystemEventData_v1(2, event_type=[1, 2], gpu_id=[7, 8]))
        ctypes.c_uint.from_address(p + 28).value = 2

    put("nvmlSystemEventSetWait", wait, POINTER)
    result = nvml.system_event_set_wait(9, 100, 4)
    assert result.gpu_id.tolist() == [7, 8]


def test_context_data_are_bytes(put):
    def data(event_set, p):
        address = ctypes.c_uint64.from_address(p)
        if not address.value:
            ctypes.c_uint.from_address(p + 12).value = 3
            return 7
        write(address.value, b"abc")

    put("nvmlEventSetGetContextData_v1", data, HANDLE, POINTER)
    assert nvml.event_set_get_context_data_v1(1, 0) == b"abc"


def test_registers_are_bytes(put):
    def exchange(device, p):
        size = ctypes.c_uint.from_address(p).value
        assert ctypes.string_at(p + 8, size) == b"xyz"
        write(p + 4, (5).to_bytes(4, "little"))
        write(p + 8, b"abc")

    put("nvmlDeviceReadWritePRM_v1", exchange, HANDLE, POINTER)
    assert nvml.device_read_write_prm_v1(1, b"xyz") == (5, b"abc")
    with pytest.raises(TypeError):
        nvml.device_read_write_prm_v1(1, "xyz")


# --- errors --------------------------------------------------------------------------------------


def test_every_status_has_its_class(put):
    status = 0
    put("nvmlDeviceGetCount_v2", lambda _: status, POINTER)
    put("nvmlErrorString", lambda _: None, ctypes.c_int, result=POINTER)  # has no text
    failures = [member for member in nvml.Return if member]
    assert len(failures) == 31
    for status in failures:
        with pytest.raises(nvml.NvmlError) as caught:
            nvml.device_get_count_v2()
        words = status.name.removeprefix("ERROR_").title().replace("_", "")
        name = {"Timeout": "NvmlTimeout", "Memory": "NvmlMemory"}.get(words, words) + "Error"
        assert type(caught.value) is getattr(nvml, name)
        assert caught.value.status == status
        assert str(caught.value).startswith(f"{status.name} ({status:d})")
        assert str(nvml.NvmlError(status)) == f"{status.name} ({status:d})"


def test_a_failure_raises_the_class_of_its_status(put):
    put("nvmlDeviceGetCount_v2", lambda _: 1, POINTER)
    with pytest.raises(nvml.UninitializedError) as caught:
        nvml.device_get_count_v2()
    assert caught.value.status == nvml.Return.ERROR_UNINITIALIZED
    assert isinstance(caught.value, nvml.NvmlError)
    assert caught.value.__notes__[0].startswith("nvml.device_get_count_v2()")


def test_the_text_comes_from_the_library_if_available(put_text):
    put_text("nvmlErrorString", b"Not Supported")
    assert str(nvml.NvmlError(3)).startswith("Not Supported")
    assert nvml.error_string(3) == "Not Supported"


def test_errors_survive_pickling():
    error = pickle.loads(pickle.dumps(nvml.NvmlTimeoutError(10)))
    assert (type(error), error.status) == (nvml.NvmlTimeoutError, 10)


def test_names_that_hide_built_in_exceptions_are_aliases():
    assert nvml.TimeoutError is nvml.NvmlTimeoutError
    assert nvml.MemoryError is nvml.NvmlMemoryError


def test_check_status_raises_for_a_failure():
    assert nvml.check_status(0) == nvml.check_status_size(7) == 0
    with pytest.raises(nvml.InsufficientSizeError):
        nvml.check_status(7)
    with pytest.raises(nvml.NotSupportedError):
        nvml.check_status_size(3)


def test_an_unsigned_value_of_all_bits_is_a_member():
    everything = nvml.RUSD.POLL_ALL
    assert everything == everything.value == 2**64 - 1
    assert nvml.RUSD(2**64 - 1) is pickle.loads(pickle.dumps(everything)) is everything
    assert repr(everything) == "<RUSD.POLL_ALL: 18446744073709551615>"
    assert 2**64 - 1 in nvml.RUSD and -1 not in nvml.RUSD and 2**64 not in nvml.RUSD
    for value in (-1, 2**64, -(2**64)):
        with pytest.raises(ValueError, match="is not a valid RUSD"):
            nvml.RUSD(value)
    assert "POLL_ALL = 18446744073709551615" in nvml.RUSD.__doc__


def test_a_mask_of_all_bits_is_sent(put):
    masks = []
    put(
        "nvmlDeviceSetRusdSettings_v1",
        lambda device, p: masks.append(ctypes.c_uint64.from_address(p + 8).value),
        HANDLE,
        POINTER,
    )
    nvml.device_set_rusd_settings_v1(1, nvml.RUSD.POLL_ALL)
    assert masks == [2**64 - 1]
