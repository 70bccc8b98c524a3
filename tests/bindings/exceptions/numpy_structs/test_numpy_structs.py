# SPDX-License-Identifier: Apache-2.0
"""Structs of the raising libraries: memory, fields, columns, views, NumPy types."""

import copy
import ctypes
import gc
import inspect
import pickle
import re
import reprlib
import subprocess
import sys
import weakref
from pathlib import Path

import pytest
from cuda.bindings import cudla, cufile, nvml

ROOT = Path(__file__).parents[4]


@pytest.fixture
def np():
    return pytest.importorskip("numpy")


def has_gil():
    """Return whether the GIL is enabled: without it, the memory of dead objects is not reused."""
    return getattr(sys, "_is_gil_enabled", lambda: True)()


# --- one struct ----------------------------------------------------------------------------------


def test_a_new_struct_is_zero_and_accepts_fields_as_keywords():
    assert bytes(nvml.Memory()) == bytes(24)
    assert nvml.Memory(total=5, free=3).asdict() == {"total": 5, "free": 3, "used": 0}


def test_a_new_struct_in_reused_memory_is_zero():
    places = set()
    for _ in range(3):
        memory = nvml.Memory()
        assert bytes(memory) == bytes(24)
        places.add(memory.ptr)
        ctypes.memset(memory.ptr, 255, 24)
        del memory
    if has_gil():
        assert len(places) == 1  # memory of a dead struct is reused


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [("pid", 0, 2**32 - 1), ("used_gpu_memory", 0, 2**64 - 1)],
)
def test_each_number_in_range_of_a_field_is_accepted(name, low, high):
    info = nvml.ProcessInfo()
    for number in (low, 1, 2**30 - 1, 2**30, high, True, low):
        setattr(info, name, number)
        assert getattr(info, name) == number
    other_fields = {
        field: getattr(info, field) for field in ("gpu_instance_id", "compute_instance_id")
    }
    assert other_fields == {"gpu_instance_id": 0, "compute_instance_id": 0}
    for wrong, error in ((-1, OverflowError), (high + 1, OverflowError), ("1", TypeError)):
        with pytest.raises(error, match=rf"ProcessInfo\.{name}: "):
            setattr(info, name, wrong)
    with pytest.raises(AttributeError, match=f"ProcessInfo.{name} cannot be deleted"):
        delattr(info, name)
    assert getattr(info, name) == low


def test_signed_fields_accept_negative_numbers():
    from cuda.bindings._v2 import driver

    location = driver.MemLocation_v1()
    for number in (0, 5, 2**31 - 1, -1, -(2**31)):
        location.id = number
        assert location.id == number
    with pytest.raises(OverflowError, match="MemLocation_v1.id: "):
        location.id = 2**31


def test_a_number_is_set_in_each_struct_of_an_array_and_in_no_constant_one():
    array = nvml.ProcessInfo(3)
    array.pid = 7
    assert [one.pid for one in array] == [7, 7, 7]
    constant = nvml.ProcessInfo.from_buffer(bytes(array))
    with pytest.raises(ValueError, match="read-only"):
        constant[0].pid = 8
    assert constant[0].pid == 7


def test_live_structs_have_distinct_addresses():
    first = nvml.ProcessInfo(1)
    array, view = nvml.ProcessInfo(40), first[0]
    del first
    structs = [nvml.ProcessInfo(1) for _ in range(3)]
    view.pid = 7
    array.pid = [9] * 40
    assert [other.pid for other in structs] == [0, 0, 0]
    assert view.pid == 7
    assert len({view.ptr, array.ptr, *(other.ptr for other in structs)}) == 5


def test_int_of_a_struct_is_its_address():
    memory = nvml.Memory()
    assert int(memory) == memory.ptr == ctypes.addressof(ctypes.c_char.from_buffer(memory))


def test_structs_are_equal_by_contents_and_class():
    assert nvml.Memory(total=1) == nvml.Memory(total=1)
    assert nvml.Memory(total=1) != nvml.Memory(total=2)
    assert nvml.Memory() != nvml.Utilization()
    with pytest.raises(TypeError, match="unhashable"):
        hash(nvml.Memory())


@pytest.mark.parametrize(
    ("value", "error"), [(-1, OverflowError), (2**64, OverflowError), ("1", TypeError)]
)
def test_numbers_are_checked(value, error):
    with pytest.raises(error, match=r"^Memory\.total: "):
        nvml.Memory().total = value
    with pytest.raises(error, match=r"^Memory\.total: "):
        nvml.Memory(total=value)


def test_fields_cannot_be_deleted_or_added():
    memory = nvml.Memory()
    with pytest.raises(AttributeError):
        del memory.total
    with pytest.raises(AttributeError):
        memory.nothing = 1
    with pytest.raises(TypeError, match="unexpected keyword argument 'nothing'"):
        nvml.Memory(nothing=1)


def test_a_struct_has_no_length_but_is_truthy():
    with pytest.raises(TypeError, match="no len"):
        len(nvml.Memory())
    assert nvml.Memory()


def test_text_ends_with_its_field():
    info = nvml.PciInfo()
    info.bus_id = "0" * 31
    assert info.bus_id == "0" * 31
    with pytest.raises(ValueError, match="String too long for field bus_id, max length is 31"):
        info.bus_id = "0" * 32
    with pytest.raises(TypeError, match=r"^PciInfo\.bus_id: expected str, got bytes"):
        info.bus_id = b"0"
    assert info.bus_id == "0" * 31


def test_text_by_address_is_retained():
    limits = nvml.SetMemoryLimits_v1()
    assert limits.name_space == ""
    limits.name_space = "group" * 100
    gc.collect()
    assert limits.name_space == "group" * 100
    limits.name_space = None
    assert limits.name_space == ""


def test_members_of_a_union_share_memory():
    value = nvml.Value()
    value.ul_val = 2**33 + 7
    assert (value.ull_val, value.ui_val, value.us_val) == (2**33 + 7, 7, 7)
    value.d_val = 3
    assert value.d_val == 3.0


def test_the_repr_of_a_struct_recreates_it():
    memory = nvml.Memory_v2(total=7)
    assert eval(repr(memory), vars(nvml)) == memory


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda o: o.copy()])
def test_copies_have_separate_memory(duplicate):
    memory = nvml.Memory(total=5)
    other = duplicate(memory)
    other.total = 6
    assert (memory.total, other.total) == (5, 6)


def test_structs_are_pickled_by_contents():
    processes = nvml.ProcessInfo(2, pid=[4, 5])
    assert pickle.loads(pickle.dumps(processes)) == processes
    assert pickle.loads(pickle.dumps(nvml.Memory(used=1))).used == 1


def test_addresses_are_not_pickled():
    with pytest.raises(TypeError, match="addresses or handles"):
        pickle.dumps(nvml.EventData(device_=1))
    assert pickle.loads(pickle.dumps(nvml.EventData())) == nvml.EventData()


def test_a_subclass_keeps_its_class_and_state():
    class Mine(nvml.ProcessInfo):
        def __init__(self, size, note):
            super().__init__(size)
            self.note = note

    mine = Mine(3, "here")
    assert (len(mine), mine.note, type(mine)) == (3, "here", Mine)


# --- arrays --------------------------------------------------------------------------------------


def test_an_array_of_one_has_single_values_and_longer_ones_columns():
    one, three = nvml.ProcessInfo(), nvml.ProcessInfo(3)
    one.pid, three.pid = 7, [1, 2, 3]
    assert one.pid == 7
    assert three.pid.tolist() == [1, 2, 3]
    assert list(three.pid) == three.pid.tolist() == [1, 2, 3]
    assert (len(one), len(three), bool(nvml.ProcessInfo(0))) == (1, 3, False)


@pytest.mark.parametrize(("size", "error"), [(-1, ValueError), ("1", TypeError), (1.5, TypeError)])
def test_the_length_of_an_array_is_checked(size, error):
    with pytest.raises(error):
        nvml.ProcessInfo(size)


def test_an_index_and_a_slice_return_views():
    array = nvml.ProcessInfo(4)
    array[1].pid = 9
    array[-1].pid = 8
    assert array.pid.tolist() == [0, 9, 0, 8]
    assert array[1::2].pid.tolist() == [9, 8]
    array[::2].pid = 5
    assert array.pid.tolist() == [5, 9, 5, 8]
    with pytest.raises(IndexError):
        array[4]
    with pytest.raises(TypeError, match="an integer or a slice"):
        array[1.0]


@pytest.mark.parametrize("step", [2**62, -(2**63), 2**200])
def test_a_step_beyond_the_array_selects_one_element(step):
    array = nvml.ProcessInfo(2, pid=[1, 2])
    assert array[::step].pid == (1 if step > 0 else 2)
    assert len(bytes(array[::step])) == 24


def test_elements_are_assigned_from_structs():
    array = nvml.ProcessInfo(3)
    array[0] = nvml.ProcessInfo(pid=4)
    array[1:] = nvml.ProcessInfo(2, pid=[5, 6])
    assert array.pid.tolist() == [4, 5, 6]
    with pytest.raises(ValueError, match="expected 1 structs, got 2"):
        array[0] = nvml.ProcessInfo(2)
    with pytest.raises(TypeError, match="expected ProcessInfo"):
        array[0] = nvml.Memory()


@pytest.mark.parametrize(
    ("target", "source"),
    [
        (slice(1, 4), slice(0, 3)),
        (slice(0, 3), slice(1, 4)),
        (slice(None), slice(None, None, -1)),
        (slice(0, 4, 2), slice(2, 0, -1)),
    ],
    ids=["up", "down", "reversed", "strided"],
)
def test_elements_are_moved_within_their_array(target, source):
    array, numbers = nvml.ProcessInfo(4, pid=[1, 2, 3, 4]), [1, 2, 3, 4]
    array[target] = array[source]
    numbers[target] = numbers[source]
    assert array.pid.tolist() == numbers
    array.pid = [1, 2, 3, 4]
    array.pid[target] = array.pid[source]
    assert array.pid.tolist() == numbers


def test_moved_elements_retain_their_referents():
    class Watched(cufile.IOVec):
        pass

    array, vectors = cufile.IOParams(3), [Watched(base_=i) for i in (1, 2, 3)]
    for i, vector in enumerate(vectors):
        array[i].u.batch.dev_ptr_base = vector
    seen, addresses = [weakref.ref(v) for v in vectors], [v.ptr for v in vectors]
    array[0:2] = array[1:3]
    del vector, vectors
    gc.collect()
    assert list(array.u.batch.dev_ptr_base) == [addresses[1], addresses[2], addresses[2]]
    assert [reference() is not None for reference in seen] == [False, True, True]


def test_rows_of_numbers_are_moved_within_their_field():
    entries = nvml.HwbcEntry(3)
    for i in range(3):
        entries[i].firmware_version = str(i) * 31
    rows = entries.firmware_version
    before = rows.tolist()
    rows[1:3] = rows[0:2]
    assert rows.tolist() == [before[0], before[0], before[1]]
    rows[0:2] = [rows[1], rows[0]]
    assert rows.tolist() == [before[0], before[0], before[1]]
    rows[0:3] = [rows[2], rows[0], rows[1]]
    assert rows.tolist() == [before[1], before[0], before[0]]


def test_numbers_are_converted_once():
    class Counter:
        calls = 0

        def __index__(self):
            self.calls += 1
            return self.calls

    counter, array = Counter(), nvml.ProcessInfo(3)
    array.pid = [counter] * 3
    assert array.pid.tolist() == [1, 2, 3]


def test_a_column_is_a_view_with_the_buffer_protocol():
    array = nvml.ProcessInfo(3, pid=[1, 2, 3])
    column = array.pid
    view = memoryview(column)
    assert (view.format, view.shape, view.strides) == ("I", (3,), (24,))
    assert (column.format, column.shape, column.strides) == (view.format, view.shape, view.strides)
    assert (column.ndim, column.size, column.itemsize, column.nbytes) == (1, 3, 4, 12)
    assert column.memview == view
    assert reprlib.repr(column) == repr(column) == "array('I', [1, 2, 3])"
    column[1] = 20
    assert array.pid.tolist() == [1, 20, 3]
    with pytest.raises(ValueError, match="expected 3 elements, got 2"):
        array.pid = [1, 2]


def test_a_struct_in_an_array_is_a_column_of_columns():
    fields = nvml.FieldValue(2)
    fields[1].value[0].ui_val = 6
    assert fields.value.ui_val.tolist() == [0, 6]
    assert fields[1].value.ui_val[0] == 6
    assert fields.value.ui_val.shape == (2,)
    parameters = cufile.IOParams(2)
    parameters[0].u.batch.dev_ptr_base = 4
    assert parameters.u.batch.dev_ptr_base.tolist() == [4, 0]


def test_text_in_an_array_is_characters():
    entries = nvml.HwbcEntry(2)
    assert entries.firmware_version.shape == (2, 32)
    assert entries[0].firmware_version.shape == (1, 32)


# --- arrays inside structs -----------------------------------------------------------------------


def test_an_array_of_fixed_length_accepts_that_many(np):
    fabric = nvml.GpuFabricInfo_v3()
    fabric.cluster_uuid = bytes(range(16))
    assert fabric.cluster_uuid.tolist() == list(range(16))
    with pytest.raises(ValueError, match="Expected length 16 for field cluster_uuid, got 15"):
        fabric.cluster_uuid = [1] * 15
    with pytest.raises(TypeError, match=r"^GpuFabricInfo_v3\.cluster_uuid: expected an integer"):
        fabric.cluster_uuid = [1] * 15 + ["x"]
    assert fabric.cluster_uuid.tolist() == list(range(16))
    fabric.cluster_uuid = np.arange(16)[::-1]
    assert fabric.cluster_uuid.tolist() == list(range(15, -1, -1))


def test_a_counted_array_sets_its_count():
    modes = nvml.NvlinkSupportedBwModes_v1(bw_modes=[1, 2, 3])
    assert modes.bw_modes.tolist() == [1, 2, 3]
    modes.bw_modes = []
    assert len(modes.bw_modes) == 0
    with pytest.raises(ValueError, match="at most 23 for field bw_modes, got 24"):
        modes.bw_modes = range(24)
    bridges = nvml.BridgeChipHierarchy(bridge_chip_info=nvml.BridgeChipInfo(2, fw_version=[3, 4]))
    assert bridges.bridge_chip_info.fw_version.tolist() == [3, 4]


def test_an_array_of_structs_is_a_view():
    states = nvml.GpuDynamicPstatesInfo()
    states.utilization[2].percentage = 50
    assert states.utilization.percentage.tolist() == [0, 0, 50, 0, 0, 0, 0, 0]
    with pytest.raises(ValueError, match="Expected length 8 for field utilization, got 3"):
        states.utilization = type(states.utilization)(3)


def test_a_nested_struct_retains_its_parent():
    info = nvml.ExcludedDeviceInfo()
    inner = info.pci_info
    inner.domain = 7
    assert info.pci_info.domain == 7
    del info
    gc.collect()
    assert inner.domain == 7


def test_a_nested_struct_is_copied_in():
    pci = nvml.PciInfo(domain=3)
    info = nvml.ExcludedDeviceInfo(pci_info=pci)
    pci.domain = 4
    assert info.pci_info.domain == 3
    with pytest.raises(TypeError, match="expected PciInfo, got int"):
        info.pci_info = 5


def test_lists_by_address_are_retained_and_counted():
    ids = nvml.VgpuTypeIdInfo_v1(vgpu_type_ids=[4, 5, 6])
    gc.collect()
    assert ids.vgpu_type_ids.tolist() == [4, 5, 6]
    assert ids.copy().vgpu_type_ids.tolist() == [4, 5, 6]
    ids.vgpu_type_ids = []
    assert ids.vgpu_type_ids == []


def test_lists_of_structs_by_address_are_shared():
    array = nvml.ProcessUtilizationInfo_v1(3, pid=[5, 6, 7])
    info = nvml.ProcessesUtilizationInfo_v1(proc_util_array=array)
    array[0].pid = 50
    del array
    gc.collect()
    assert info.proc_util_array.pid.tolist() == [50, 6, 7]
    info.proc_util_array = None
    assert info.proc_util_array == []


def test_referents_are_destroyed_with_their_struct():
    class Mine(nvml.ProcessUtilizationInfo_v1):
        pass

    array = Mine(3, pid=[5, 6, 7])
    seen = weakref.ref(array)
    info = nvml.ProcessesUtilizationInfo_v1()
    nvml.ProcessesUtilizationInfo_v1.from_ptr(info.ptr, owner=info).proc_util_array = array
    info.proc_util_array = array
    shown = info.proc_util_array
    del array, info
    gc.collect()
    assert (seen(), shown.pid.tolist()) == (None, [5, 6, 7])
    array = Mine(2)
    seen = weakref.ref(array)
    info = nvml.ProcessesUtilizationInfo_v1(proc_util_array=array)
    del array
    gc.collect()
    assert seen() is not None
    del info
    assert seen() is None


def test_a_sequence_of_structs_is_gathered():
    events = cudla.WaitEvents(pre_fences=[cudla.Fence(type=1), cudla.Fence(type=2)])
    assert events.pre_fences[1].type == 2
    task = cudla.Task(wait_events=events, input_tensor=[1, 2])
    assert (task.wait_events, task.input_tensor.tolist()) == (events.ptr, [1, 2])


# --- foreign memory -------------------------------------------------------------------------------


def test_a_struct_is_copied_without_an_owner_and_viewed_with_one():
    memory = nvml.Memory(total=1)
    copied = nvml.Memory.from_ptr(memory.ptr)
    viewed = nvml.Memory.from_ptr(memory.ptr, owner=memory)
    memory.total = 2
    assert (copied.total, viewed.total) == (1, 2)
    del memory
    gc.collect()
    assert viewed.total == 2


def test_an_array_is_viewed_at_its_address():
    array = nvml.ProcessInfo(3, pid=[1, 2, 3])
    viewed = nvml.ProcessInfo.from_ptr(array.ptr, 2, owner=array)
    assert viewed.pid.tolist() == [1, 2]


def test_null_is_refused():
    for cls in (nvml.Memory, nvml.ProcessInfo):
        with pytest.raises(ValueError, match=r"ptr must not be null \(0\)"):
            cls.from_ptr(0)


def test_a_read_only_struct_refuses_to_be_written():
    array = nvml.ProcessInfo(2)
    frozen = nvml.ProcessInfo.from_ptr(array.ptr, 2, readonly=True, owner=array)
    for change in (
        lambda: setattr(frozen, "pid", 1),
        lambda: setattr(frozen[0], "pid", 1),
        lambda: frozen.__setitem__(0, array[0]),
    ):
        with pytest.raises(ValueError, match="This ProcessInfo instance is read-only"):
            change()
    with pytest.raises(ValueError, match="read-only"):
        frozen.pid[0] = 1
    assert memoryview(frozen).readonly


@pytest.mark.parametrize(
    "call, error, message",
    [
        (
            lambda: nvml.Memory.from_ptr("x"),
            TypeError,
            "argument 'ptr': expected an integer, got str",
        ),
        (lambda: nvml.Memory.from_ptr(), TypeError, "missing required argument 'ptr' (pos 1)"),
        (lambda: nvml.Memory.from_ptr(8, size=1), TypeError, "'size'"),
        (lambda: nvml.Memory.from_buffer(b"", 1), TypeError, "takes at most 1 argument (2 given)"),
        (lambda: nvml.ProcessInfo.from_ptr(8, -1), ValueError, "size must not be negative, got -1"),
        (lambda: nvml.Memory.from_ptr(0), ValueError, "ptr must not be null (0)"),
        (lambda: nvml.Memory.from_buffer(3), TypeError, "argument 'buffer': memoryview: a bytes-"),
        (
            lambda: nvml.Memory.from_data([1]),
            TypeError,
            "argument 'data': expected a NumPy ndarray",
        ),
        (lambda: nvml.Memory.from_data(), TypeError, "missing required argument 'data' (pos 1)"),
        (
            lambda: nvml.Memory.from_buffer(b"x"),
            ValueError,
            "buffer length must be 24 bytes, got 1",
        ),
    ],
)
def test_a_wrong_source_is_reported_by_name(call, error, message):
    with pytest.raises(error) as caught:
        call()
    assert re.search(r"\b(Memory|ProcessInfo)\.from_\w+\(\)", str(caught.value))
    assert message in str(caught.value)


def test_sources_may_be_named(np):
    data = np.zeros(1, dtype=nvml.memory_dtype)
    data["used"] = 7
    assert nvml.Memory.from_data(data=data) == nvml.Memory.from_buffer(buffer=data)
    assert nvml.Memory.from_ptr(ptr=data.ctypes.data, readonly=True, owner=data).used == 7
    assert str(inspect.signature(nvml.Memory.from_data)) == "(data)"
    assert str(inspect.signature(nvml.Memory.from_buffer)) == "(buffer)"


@pytest.mark.parametrize("size", ["x", 1.5, None], ids=repr)
def test_a_length_is_an_integer(size):
    with pytest.raises(TypeError, match=r"^ProcessInfo\(\) argument 'size': "):
        nvml.ProcessInfo(size)


def test_a_field_can_be_named_by_a_string():
    processes = nvml.ProcessInfo(2)
    processes["pid"] = 3
    assert list(processes["pid"]) == list(processes.pid) == [3, 3]
    for use in (lambda: processes["nothing"], lambda: processes.__setitem__("nothing", 1)):
        with pytest.raises(ValueError, match="^ProcessInfo has no field of name nothing"):
            use()


def test_a_buffer_is_viewed():
    data = bytearray(24)
    memory = nvml.Memory.from_buffer(data)
    memory.total = 1
    assert data[0] == 1
    with pytest.raises(BufferError):
        data.append(0)
    with pytest.raises(ValueError, match="read-only"):
        nvml.Memory.from_buffer(bytes(24)).total = 1
    with pytest.raises(ValueError, match="24 bytes, got 25"):
        nvml.Memory.from_buffer(bytes(25))
    with pytest.raises(ValueError, match="multiple of 24"):
        nvml.ProcessInfo.from_buffer(bytes(25))
    assert len(nvml.ProcessInfo.from_buffer(bytes(72))) == 3


# --- NumPy ---------------------------------------------------------------------------------------


def test_numpy_arrays_are_viewed(np):
    data = np.zeros(2, dtype=nvml.process_info_dtype)
    processes = nvml.ProcessInfo.from_data(data)
    processes.pid = [3, 4]
    assert data["pid"].tolist() == [3, 4]
    assert np.asarray(processes.pid).tolist() == [3, 4]
    with pytest.raises(TypeError, match="a NumPy ndarray"):
        nvml.ProcessInfo.from_data([1])
    with pytest.raises(ValueError, match="process_info_dtype"):
        nvml.ProcessInfo.from_data(np.zeros(2))
    with pytest.raises(ValueError, match="one dimension"):
        nvml.ProcessInfo.from_data(data.reshape(1, 2))
    with pytest.raises(ValueError, match="one element"):
        nvml.Memory.from_data(np.zeros(2, dtype=nvml.memory_dtype))


def test_sizes_equal_those_of_the_types(np):
    for module in (nvml, cufile, cudla):
        for name in dir(module):
            cls = getattr(module, name)
            if isinstance(cls, type) and hasattr(cls, "from_ptr"):
                assert len(bytes(cls())) > 0, name


def test_numpy_is_imported_when_a_type_is_requested():
    code = """
import sys
from cuda.bindings import nvml
assert "memory_dtype" in dir(nvml)
nvml.ProcessInfo(3, pid=[1, 2, 3]).pid.tolist()
assert "numpy" not in sys.modules
assert nvml.memory_dtype is nvml.memory_dtype
assert "numpy" in sys.modules
assert not hasattr(nvml, "no_such_dtype")
"""
    pytest.importorskip("numpy")
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, timeout=300)


# --- shared memory --------------------------------------------------------------------------------


def test_an_object_keeps_its_length_after_creation():
    array = nvml.ProcessInfo(3)
    with pytest.raises(ValueError, match="is 3 and cannot change to 5"):
        array.__init__(5)
    array.__init__(3, pid=[1, 2, 3])
    assert array.pid.tolist() == [1, 2, 3]


def test_a_view_of_an_unfinished_object_stays_valid():
    array = nvml.ProcessInfo.__new__(nvml.ProcessInfo)
    seen = memoryview(array)
    array.__init__(1000)
    gc.collect()
    assert (len(array), bytes(seen)) == (1000, bytes(24))


def test_code_inside_a_conversion_cannot_change_the_length():
    array = nvml.ProcessInfo.__new__(nvml.ProcessInfo)

    class Strikes:
        def __index__(self):
            array.__init__(1000)
            return 0

    with pytest.raises(ValueError, match="cannot change to 1000"):
        array.pid = Strikes()
    with pytest.raises(ValueError, match="cannot change to 1000"):
        array[Strikes()]
    assert len(array) == 1


@pytest.mark.parametrize("size", [2**59, 2**60, 2**61, 2**63 - 1])
def test_more_structs_than_memory_are_refused(size):
    with pytest.raises(MemoryError):
        nvml.ProcessInfo(size)
    memory = nvml.ProcessInfo()
    with pytest.raises(OverflowError, match="no memory holds"):
        nvml.ProcessInfo.from_ptr(memory.ptr, size, owner=memory)


def test_a_library_may_write_a_larger_struct_than_ours():
    structs = [nvml.Memory() for _ in range(64)]
    behind = ctypes.sizeof(ctypes.c_uint64) * 3
    for memory in structs:
        ctypes.memset(memory.ptr + behind, 0xFF, 128)
    assert [bytes(memory) for memory in structs] == [bytes(24)] * 64
    del structs
    gc.collect()


# --- arrays beside NumPy --------------------------------------------------------------------------


def test_arrays_return_their_numpy_type(np):
    assert nvml.GpuFabricInfo_v2().cluster_uuid.dtype == np.uint8
    assert nvml.GridLicensableFeature(2).license_info.dtype == np.int8
    assert nvml.ProcessInfo(3).used_gpu_memory.dtype == np.uint64


def test_arrays_compare_and_slice_like_numpy_arrays(np):
    processes = nvml.ProcessInfo(4)
    processes.pid = [3, 1, 2, 5]
    pid = processes.pid
    for result, expected in (
        (pid == [3, 0, 2, 0], [True, False, True, False]),
        (pid != pid, [False] * 4),
        (pid > 2, [True, False, False, True]),
        (pid[1:3], [1, 2]),
        (pid[[0, 3]], [3, 5]),
        (pid[pid < 3], [1, 2]),
        (pid[...], [3, 1, 2, 5]),
    ):
        assert isinstance(result, np.ndarray)
        assert result.tolist() == expected
    assert pid[1] == 1 and isinstance(pid[1], int)


def test_a_numpy_selection_shares_the_memory(np):
    processes = nvml.ProcessInfo(4)
    processes.pid[1:3][:] = 7
    processes.pid[[0, 3]] = [5, 6]
    assert processes.pid.tolist() == [5, 7, 7, 6]
    rows = nvml.GridLicensableFeature(2).license_info
    assert rows[1, 5] == 0 and rows[:, 0].shape == (2,)
    with pytest.raises(IndexError):
        processes.pid[9, 9]


def test_without_numpy_arrays_compare_as_sequences():
    code = """
import sys
from cuda.bindings import nvml
processes = nvml.ProcessInfo(2)
processes.pid = [3, 4]
assert processes.pid == [3, 4] and processes.pid != [3, 5] and processes.pid[0:1] == [3]
try:
    processes.pid[[0]]
except TypeError as error:
    print(error)
print("numpy" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.splitlines() == ["expected an integer or a slice, got list", "False"]
