# SPDX-License-Identifier: Apache-2.0
"""Struct fields by kind, and the objects that they retain."""

import contextlib
import ctypes
import gc
import inspect
import weakref

import numpy as np
import pytest
from cuda.bindings import driver, runtime

from generator import libraries


class Data(bytearray):
    """A buffer whose destruction can be observed."""


def test_numbers_are_checked_for_their_width():
    node = driver.CUDA_MEMSET_NODE_PARAMS()
    node.elementSize = 2**32 - 1
    assert node.elementSize == 2**32 - 1
    for value, error in ((2**32, OverflowError), (-1, OverflowError), ("1", TypeError)):
        with pytest.raises(error, match=r"CUDA_MEMSET_NODE_PARAMS\.elementSize"):
            node.elementSize = value


def test_small_and_signed_numbers():
    edge = driver.CUgraphEdgeData()
    edge.from_port = 255
    assert (edge.from_port, edge.to_port) == (255, 0)
    with pytest.raises(OverflowError):
        edge.from_port = 256
    properties = driver.CUdevprop(clockRate=-5)
    assert properties.clockRate == -5


def test_floats():
    window = driver.CUaccessPolicyWindow()
    window.hitRatio = 0.5
    assert window.hitRatio == 0.5
    with pytest.raises(TypeError, match="expected a number"):
        window.hitRatio = "x"


def test_a_field_works_on_objects_of_its_class_only():
    class Mine(driver.CUlaunchConfig):
        pass

    field = driver.CUlaunchConfig.gridDimX
    other, number = driver.CUextent3D(width=3), 5
    for stranger in (other, number):
        with pytest.raises(TypeError, match="gridDimX"):
            field.__get__(stranger)
        with pytest.raises(TypeError, match="gridDimX"):
            field.__set__(stranger, 7)
    assert other.width == 3
    for instance in (driver.CUlaunchConfig(), Mine()):
        field.__set__(instance, 7)
        assert field.__get__(instance) == instance.gridDimX == 7


def test_a_field_of_another_class_in_a_subclass_does_not_reach_its_memory():
    class Mine(driver.CUextent3D):
        borrowed = driver.CUlaunchConfig.gridDimX

    with pytest.raises(TypeError, match="gridDimX"):
        Mine().borrowed = 1


def test_fields_describe_themselves_like_c_properties():
    field = driver.CUlaunchConfig.gridDimX
    assert inspect.isgetsetdescriptor(field)
    assert (field.__name__, field.__objclass__) == ("gridDimX", driver.CUlaunchConfig_st)
    assert "gridDimX" in repr(field)


def test_enumerators_are_members():
    location = driver.CUmemLocation()
    location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    assert location.type is driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    location.type = 2
    assert location.type is driver.CUmemLocationType(2)
    location.type = 77
    assert location.type.name == "UNKNOWN_77"
    with pytest.raises(TypeError):
        location.type = None


@pytest.mark.parametrize(("value", "expected"), [(None, 0), (5, 5), (driver.CUstream(6), 6)])
def test_handles_are_instances_numbers_or_none(value, expected):
    config = driver.CUlaunchConfig(hStream=value)
    assert int(config.hStream) == expected
    assert type(config.hStream) is driver.CUstream


def test_structs_are_copied_in():
    location = driver.CUmemLocation(id=3)
    properties = driver.CUmemPoolProps(location=location)
    location.id = 4
    assert properties.location.id == 3
    with pytest.raises(TypeError, match="expected CUmemLocation, got NoneType"):
        properties.location = None


def test_members_of_a_union_share_their_memory():
    value = driver.CUlaunchAttributeValue(priority=-2)
    assert value.cooperative == -2
    assert value.pad[:4] == (-2).to_bytes(4, "little", signed=True)


def test_fixed_bytes_accept_exactly_their_length():
    handle = driver.CUipcMemHandle()
    handle.reserved = range(64)
    assert handle.reserved == bytes(range(64))
    for value in (b"short", bytes(65)):
        with pytest.raises(ValueError, match="expected 64 bytes"):
            handle.reserved = value
    for value in ("x" * 64, 64, None):
        with pytest.raises(TypeError):
            handle.reserved = value


@pytest.mark.parametrize(
    ("cls", "name"),
    [
        (driver.CUipcMemHandle_st, "reserved"),
        (driver.CUlaunchAttributeValue, "pad"),
        (runtime.cudaDeviceProp, "name"),
    ],
)
def test_characters_are_signed_or_unsigned(cls, name):
    struct = cls()
    size = max(64, len(getattr(struct, name)))
    setattr(struct, name, [-1, -128, 127, 255] * (size // 4))
    assert getattr(struct, name)[:4] == b"\xff\x80\x7f\xff"
    before = bytes(struct)
    for wrong, error in (
        ([-129] * size, OverflowError),
        ([1] * (size - 1) + [256], OverflowError),
        ([1.5] * size, TypeError),
        ([1] * (len(before) + 1), ValueError),
    ):
        with pytest.raises(error, match=rf"^{cls.__name__}\.{name}: "):
            setattr(struct, name, wrong)
        assert bytes(struct) == before


def test_an_identifier_is_read_only():
    with pytest.raises(AttributeError):
        driver.CUuuid().bytes = bytes(16)


def test_arrays_of_numbers_enumerators_and_handles_are_lists():
    texture = driver.CUDA_TEXTURE_DESC(borderColor=[1, 2, 3, 4], addressMode=[1, 2, 0])
    assert texture.borderColor == [1.0, 2.0, 3.0, 4.0]
    assert texture.addressMode[1] is driver.CUaddress_mode(2)
    assert driver.CUdevprop(maxGridSize=np.array([1, 2, 3])).maxGridSize == [1, 2, 3]
    frame = driver.CUeglFrame()
    frame.frame.pArray = [driver.CUarray(5), 6, None]
    assert [int(a) for a in frame.frame.pArray] == [5, 6, 0]


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        ([1, 2], IndexError, "expected 3 elements, got 2"),
        ([1, 2, 3, 4], IndexError, "expected 3 elements, got 4"),
        ("abc", TypeError, "expected a sequence, got str"),
        (5, TypeError, "expected a sequence, got int"),
        (None, TypeError, "expected a sequence, got NoneType"),
        ([1, "2", 3], TypeError, "expected an integer, got str"),
        ([1, 2**31, 3], OverflowError, "2147483648 does not fit int"),
    ],
)
def test_arrays_accept_exactly_their_length(value, error, message):
    properties = driver.CUdevprop()
    with pytest.raises(error, match=rf"^CUdevprop\.maxGridSize: .*{message}"):
        properties.maxGridSize = value
    assert properties.maxGridSize == [0, 0, 0]


def pitches():
    frame = runtime.cudaEglFrame()
    frame.frame.pPitch = [runtime.cudaPitchedPtr(pitch=pitch) for pitch in (1, 2, 3)]
    return frame.frame


def test_an_element_of_an_array_of_structs_is_a_copy():
    frame = pitches()
    element = frame.pPitch[0]
    element.pitch = 9
    assert [each.pitch for each in frame.pPitch] == [1, 2, 3]
    frame.pPitch = [element, *frame.pPitch[1:]]
    assert [each.pitch for each in frame.pPitch] == [9, 2, 3]


def test_elements_of_an_array_of_structs_are_swapped():
    frame = pitches()
    first, second, third = frame.pPitch
    frame.pPitch = [second, first, third]
    assert [each.pitch for each in frame.pPitch] == [2, 1, 3]
    start = frame.pPitch and frame.getPtr()  # the array starts where the union starts
    views = [runtime.cudaPitchedPtr(_ptr=start + 32 * i) for i in (2, 0, 1)]
    frame.pPitch = views
    assert [each.pitch for each in frame.pPitch] == [3, 2, 1]


def test_a_copied_element_retains_its_referents():
    frame, data = pitches(), Data(b"abcd")
    reference = weakref.ref(data)
    frame.pPitch = [runtime.cudaPitchedPtr(ptr=data), *frame.pPitch[1:]]
    element, neighbor = frame.pPitch[:2]
    del data, frame
    gc.collect()
    assert ctypes.string_at(element.ptr, 4) == b"abcd"
    del element
    gc.collect()
    assert reference() is None and neighbor.pitch == 2


@pytest.mark.parametrize("place", range(3))
def test_one_bad_element_leaves_the_array_unchanged(place):
    frame, good = pitches(), runtime.cudaPitchedPtr(pitch=9)
    for bad in (5, None, driver.CUextent3D()):
        with pytest.raises(TypeError, match="expected cudaPitchedPtr, got"):
            frame.pPitch = [bad if i == place else good for i in range(3)]
        assert [each.pitch for each in frame.pPitch] == [1, 2, 3]


def test_a_copy_does_not_retain_the_referents_of_a_neighbor():
    """The location ends where the attributes start, the reduction starts where a size ends."""
    data = Data(b"abcd")
    reference = weakref.ref(data)
    properties = driver.CUmemPoolProps(win32SecurityAttributes=data)
    location = properties.location.copy()
    assert properties.location.getPtr() + driver.sizeof(driver.CUmemLocation) == (
        properties.getPtr() + bytes(properties).index(location_end(properties))
    )
    del data, properties
    gc.collect()
    assert reference() is None and location.id == 0


def location_end(properties):
    return properties.win32SecurityAttributes.to_bytes(8, "little")


def test_an_address_is_a_number_a_buffer_or_none():
    window = driver.CUaccessPolicyWindow(base_ptr=4096)
    assert window.base_ptr == 4096
    window.base_ptr = None
    assert window.base_ptr == 0
    data = np.zeros(4)
    window.base_ptr = data
    assert window.base_ptr == data.ctypes.data
    with pytest.raises(TypeError, match=r"CUaccessPolicyWindow\.base_ptr"):
        window.base_ptr = "x"


def test_a_buffer_is_retained_with_its_size_until_the_field_is_overwritten():
    window = driver.CUaccessPolicyWindow()
    data = Data(b"abcd")
    reference = weakref.ref(data)
    window.base_ptr = data
    with pytest.raises(BufferError):
        data.extend(b"more")
    del data
    gc.collect()
    assert ctypes.string_at(window.base_ptr, 4) == b"abcd"
    window.base_ptr = 0
    gc.collect()
    assert reference() is None


def test_a_value_written_by_a_destroyed_buffer_wins():
    """The address and its retained object agree, whatever code runs while the previous object is
    destroyed."""
    struct, buffers = driver.CUDA_MEMCPY3D(), [Data(64), Data(64)]
    alive = [weakref.ref(each) for each in buffers]

    class Writes(bytearray):
        def __del__(self):
            struct.srcHost = buffers[0]

    struct.srcHost = Writes(64)
    struct.srcHost = buffers[1]
    assert struct.srcHost == ctypes.addressof(ctypes.c_char.from_buffer(buffers[0]))
    buffers.clear()
    gc.collect()
    assert [each() is not None for each in alive] == [True, False]


def test_a_buffer_set_through_a_view_lives_as_long_as_the_parent():
    attribute = driver.CUlaunchAttribute()
    data = Data(b"abcd")
    reference = weakref.ref(data)
    attribute.value.accessPolicyWindow.base_ptr = data
    del data
    gc.collect()
    assert reference() is not None
    assert ctypes.string_at(attribute.value.accessPolicyWindow.base_ptr, 4) == b"abcd"
    del attribute
    gc.collect()
    assert reference() is None


def test_copies_and_assignments_retain_a_buffer():
    data = Data(b"abcd")
    reference = weakref.ref(data)
    window = driver.CUaccessPolicyWindow(base_ptr=data)
    value = driver.CUlaunchAttributeValue(accessPolicyWindow=window)
    other = value.copy()
    del data, window, value
    gc.collect()
    assert ctypes.string_at(other.accessPolicyWindow.base_ptr, 4) == b"abcd"
    del other
    gc.collect()
    assert reference() is None


class TestPointerLists:
    """A pointer field with an owned array behind it."""

    def test_a_new_field_is_empty_and_null(self):
        config = driver.CUlaunchConfig()
        assert config.attrs == []
        assert bytes(config)[40:48] == bytes(8)

    def test_a_list_is_copied_and_its_count_is_set_by_the_user(self):
        attribute = driver.CUlaunchAttribute()
        attribute.value.cooperative = 1
        config = driver.CUlaunchConfig(attrs=[attribute, attribute])
        assert config.numAttrs == 0
        attribute.value.cooperative = 2
        assert [a.value.cooperative for a in config.attrs] == [1, 1]
        assert [type(a) for a in config.attrs] == [driver.CUlaunchAttribute] * 2

    def test_the_elements_are_views_of_the_array(self):
        config = driver.CUlaunchConfig(attrs=[driver.CUlaunchAttribute()])
        config.attrs[0].value.priority = 5
        assert config.attrs[0].value.priority == 5
        address = int.from_bytes(bytes(config)[40:48], "little")
        assert config.attrs[0].getPtr() == address

    @pytest.mark.parametrize("empty", [[], (), None])
    def test_an_empty_list_frees_the_array(self, empty):
        config = driver.CUlaunchConfig(attrs=[driver.CUlaunchAttribute()])
        config.attrs = empty
        assert config.attrs == []
        assert bytes(config)[40:48] == bytes(8)

    def test_an_element_outlives_the_struct(self):
        element = driver.CUlaunchConfig(attrs=[driver.CUlaunchAttribute()]).attrs[0]
        gc.collect()
        element.value.priority = 3
        assert element.value.priority == 3

    def test_buffers_of_the_elements_are_retained(self):
        data = Data(b"abcd")
        reference = weakref.ref(data)
        attribute = driver.CUlaunchAttribute()
        attribute.value.accessPolicyWindow.base_ptr = data
        config = driver.CUlaunchConfig(attrs=[attribute])
        del data, attribute
        gc.collect()
        address = config.attrs[0].value.accessPolicyWindow.base_ptr
        assert ctypes.string_at(address, 4) == b"abcd"
        del config
        gc.collect()
        assert reference() is None

    def test_handles_in_a_list(self):
        node = driver.CUDA_EXT_SEM_SIGNAL_NODE_PARAMS(
            extSemArray=[1, driver.CUexternalSemaphore(2)]
        )
        assert [int(s) for s in node.extSemArray] == [1, 2]

    @pytest.mark.parametrize("value", [5, "ab", [1]])
    def test_wrong_values_are_refused_and_change_nothing(self, value):
        config = driver.CUlaunchConfig(attrs=[driver.CUlaunchAttribute()])
        with pytest.raises(TypeError):
            config.attrs = value
        assert len(config.attrs) == 1

    def test_a_copy_shares_the_array_and_keeps_it_alive(self):
        config = driver.CUlaunchConfig(attrs=[driver.CUlaunchAttribute()])
        other = config.copy()
        del config
        gc.collect()
        assert len(other.attrs) == 1
        other.attrs[0].value.priority = 1


STRUCTS = {s.name: s for s in libraries.load("driver").structs}


def fields_of(name):
    struct = STRUCTS[name]
    return [*(fields_of(struct.base) if struct.base else []), *struct.fields]


@pytest.mark.parametrize("name", [s.name for s in STRUCTS.values() if not s.view_only])
def test_every_field_can_be_read_and_set_to_its_own_value(name):
    struct = getattr(driver, name)()
    before = bytes(struct)
    for field in fields_of(name):
        value = getattr(struct, field.name)
        if not field.is_settable:
            with pytest.raises(AttributeError):
                setattr(struct, field.name, value)
        else:
            setattr(struct, field.name, value)
    assert bytes(struct) == before


class TestForeignMemory:
    """Objects that a wrapper at an address has stored into the struct."""

    @staticmethod
    def pointer(struct):
        return int.from_bytes(bytes(struct)[40:48], "little")

    def test_an_array_is_destroyed_with_the_wrapper_that_set_it(self):
        config = driver.CUlaunchConfig()
        wrapper = driver.CUlaunchConfig(_ptr=config.getPtr())
        wrapper.attrs = [driver.CUlaunchAttribute()]
        assert self.pointer(config) == wrapper.attrs[0].getPtr()
        wrapper.numAttrs = 1
        del wrapper
        assert self.pointer(config) == 0 and config.numAttrs == 1

    def test_a_value_written_by_another_party_stays(self):
        config = driver.CUlaunchConfig()
        wrapper = driver.CUlaunchConfig(_ptr=config.getPtr())
        wrapper.attrs = [driver.CUlaunchAttribute()]
        config.attrs = [driver.CUlaunchAttribute()]
        address = self.pointer(config)
        del wrapper
        assert self.pointer(config) == address != 0

    def test_views_of_the_wrapper_retain_the_array(self):
        params = driver.CUgraphNodeParams()
        wrapper = driver.CUgraphNodeParams(_ptr=params.getPtr())
        signal = wrapper.extSemSignal
        signal.extSemArray = [driver.CUexternalSemaphore(7)]
        del wrapper
        gc.collect()
        assert [int(each) for each in signal.extSemArray] == [7]
        del signal
        assert not any(bytes(params))

    def test_a_subclass_behaves_alike(self):
        class Mine(driver.CUlaunchConfig):
            pass

        config = driver.CUlaunchConfig()
        wrapper = Mine(_ptr=config.getPtr())
        wrapper.attrs = [driver.CUlaunchAttribute()]
        del wrapper
        assert self.pointer(config) == 0

    def test_numbers_and_user_memory_stay(self):
        window, data = driver.CUaccessPolicyWindow(), np.zeros(4)
        driver.CUaccessPolicyWindow(_ptr=window.getPtr()).base_ptr = data
        assert window.base_ptr == data.ctypes.data


CONDITIONAL = driver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_CONDITIONAL
# Offset of the address in a CUgraphNodeParams, after the type, a handle, a type and a size.
GRAPHS_AT = 32


def add_node(put, graphs, params):
    """Call cuGraphAddNode with a driver that creates these graphs."""
    array = (ctypes.c_void_p * len(graphs))(*graphs)

    def add(_node, _graph, _dependencies, _edges, _count, output):
        ctypes.c_void_p.from_address(output + GRAPHS_AT).value = ctypes.addressof(array)

    put("cuGraphAddNode", add, *[ctypes.c_void_p] * 4, ctypes.c_size_t, ctypes.c_void_p)
    assert driver.cuGraphAddNode(1, None, None, 0, params)[0] == 0


def test_the_graphs_of_a_conditional_node_are_created_by_the_driver(put):
    params = driver.CUgraphNodeParams(type=CONDITIONAL)
    assert params.conditional.phGraph_out == []
    params.conditional.size = 2
    graphs = params.conditional.phGraph_out
    assert [int(graph) for graph in graphs] == [0, 0]
    assert [type(graph) for graph in graphs] == [driver.CUgraph] * 2
    add_node(put, [0x10, 0x20], params)
    gc.collect()  # the driver's own array is freed
    assert [int(graph) for graph in params.conditional.phGraph_out] == [0x10, 0x20]
    with pytest.raises(AttributeError):
        params.conditional.phGraph_out = []


def test_other_members_of_a_union_are_no_graphs(put):
    params = driver.CUgraphNodeParams()
    ctypes.memset(params.conditional.getPtr(), 3, 32)
    add_node(put, [0x10], params)
    assert params.conditional.phGraph_out == []
    assert "phGraph_out : []" in repr(params)


def test_a_graph_list_of_a_runtime_node_is_as_long_as_its_size():
    params = runtime.cudaConditionalNodeParams(size=3)
    assert [int(graph) for graph in params.phGraph_out] == [0, 0, 0]
    assert type(params.phGraph_out[0]) is runtime.cudaGraph_t
    assert params.copy().phGraph_out[2] == runtime.cudaGraph_t()


def test_an_impossible_size_gives_no_list():
    """Memory contents after another member of the union was set."""
    params = driver.CUgraphNodeParams()
    ctypes.memset(params.conditional.getPtr(), 255, 32)
    assert params.conditional.size == 2**32 - 1
    assert params.conditional.phGraph_out == []


def test_a_referent_of_another_union_member_is_no_list():
    params = driver.CUgraphNodeParams()
    buffer = bytearray(64)
    for name, _ in inspect.getmembers(type(params), inspect.isgetsetdescriptor):
        member = getattr(params, name)
        for field in ("kernelParams", "extra", "userData", "src", "dst", "ctx"):
            if hasattr(member, field):
                with contextlib.suppress(TypeError, AttributeError):
                    setattr(member, field, buffer)
        repr(params)
    assert bytes(buffer) == bytes(64)
