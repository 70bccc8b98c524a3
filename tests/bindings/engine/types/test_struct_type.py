# SPDX-License-Identifier: Apache-2.0
"""Struct classes as objects: construction, views, copies, contents."""

import copy
import ctypes
import gc
import pickle
import weakref

import pytest
from cuda.bindings import driver, nvrtc, runtime

from ....threads import has_lock


def bytes_of(struct):
    return ctypes.string_at(struct.getPtr(), driver.sizeof(type(struct)))


def test_a_new_struct_is_zero():
    assert bytes_of(driver.CUlaunchConfig()) == bytes(driver.sizeof(driver.CUlaunchConfig))


def test_reused_memory_of_a_dead_struct_is_zero():
    nodes = [driver.CUDA_KERNEL_NODE_PARAMS(gridDimX=7, blockDimZ=9) for _ in range(3)]
    size = driver.sizeof(driver.CUDA_KERNEL_NODE_PARAMS)
    del nodes
    fresh = [driver.CUDA_KERNEL_NODE_PARAMS() for _ in range(4)]
    assert {bytes_of(node) for node in fresh} == {bytes(size)}
    assert len({node.getPtr() for node in fresh}) == len(fresh)


def test_a_new_struct_does_not_retain_referents_of_a_dead_one():
    class Data(bytearray):
        pass

    data = Data(64)
    window = driver.CUaccessPolicyWindow(base_ptr=data)
    reference = weakref.ref(data)
    del data, window
    fresh = driver.CUaccessPolicyWindow()
    assert reference() is None
    assert fresh.base_ptr == 0


def test_fields_are_keywords_of_the_constructor():
    config = driver.CUlaunchConfig(gridDimX=3, sharedMemBytes=4, hStream=driver.CUstream(5))
    assert (config.gridDimX, config.gridDimY, config.sharedMemBytes) == (3, 0, 4)
    assert int(config.hStream) == 5


@pytest.mark.parametrize(
    ("keywords", "error"),
    [({"gridDimW": 1}, "unexpected keyword argument 'gridDimW'"), ({"gridDimX": "1"}, "gridDimX")],
)
def test_wrong_keywords_are_named(keywords, error):
    with pytest.raises(TypeError, match=error):
        driver.CUlaunchConfig(**keywords)


def test_a_view_shows_foreign_memory():
    owner = driver.CUlaunchConfig(gridDimX=3)
    view = driver.CUlaunchConfig(_ptr=owner.getPtr())
    view.gridDimX = 4
    assert owner.gridDimX == 4
    assert driver.CUlaunchConfig(owner.getPtr()).gridDimX == 4


def test_a_typedef_is_a_subclass_and_shares_the_fields():
    assert driver.CUlaunchConfig.__mro__[1] is driver.CUlaunchConfig_st
    assert driver.CUuuid.__mro__[1] is driver.CUuuid_st
    program = nvrtc.nvrtcBundledHeadersInfo(numFiles=3)
    assert program.numFiles == 3


def test_parts_of_a_struct_cannot_be_created_alone():
    part_class = type(driver.CUarrayMapInfo().resource)
    assert part_class.__name__.startswith("anon_union")
    with pytest.raises(TypeError, match="cannot be created alone"):
        part_class()


def test_unknown_attributes_are_refused():
    config = driver.CUlaunchConfig()
    with pytest.raises(AttributeError):
        config.gridDimW = 1
    with pytest.raises(AttributeError):
        _ = config.gridDimW


def test_fields_cannot_be_deleted():
    with pytest.raises(AttributeError, match="cannot be deleted"):
        del driver.CUlaunchConfig().gridDimX


def test_structs_are_equal_by_identity():
    first, second = driver.CUlaunchConfig(), driver.CUlaunchConfig()
    assert first != second
    assert first == first
    assert len({first, second}) == 2


def test_contents_are_compared_as_bytes():
    first, second = driver.CUlaunchConfig(gridDimX=1), driver.CUlaunchConfig(gridDimX=1)
    assert bytes(first) == bytes(second) == bytes_of(first)
    second.gridDimX = 2
    assert bytes(first) != bytes(second)


def test_the_buffer_is_the_struct_itself():
    config = driver.CUlaunchConfig()
    memoryview(config)[0] = 7
    assert config.gridDimX == 7


@pytest.mark.parametrize("make", [driver.CUlaunchConfig.copy, copy.copy, copy.deepcopy])
def test_a_copy_is_independent(make):
    config = driver.CUlaunchConfig(gridDimX=1)
    other = make(config)
    other.gridDimX = 2
    assert type(other) is driver.CUlaunchConfig
    assert (config.gridDimX, other.gridDimX) == (1, 2)


def test_asdict_recurses_into_nested_structs():
    window = driver.CUaccessPolicyWindow(num_bytes=7)
    value = driver.CUlaunchAttributeValue(accessPolicyWindow=window)
    assert value.asdict()["accessPolicyWindow"]["num_bytes"] == 7
    assert driver.CUextent3D(width=1, height=2, depth=3).asdict() == {
        "width": 1,
        "height": 2,
        "depth": 3,
    }


def test_a_struct_is_pickled_by_value():
    extent = driver.CUextent3D(width=1, height=2, depth=3)
    other = pickle.loads(pickle.dumps(extent))
    assert type(other) is driver.CUextent3D
    assert bytes(other) == bytes(extent)


def test_the_bytes_of_an_ipc_handle_are_pickled():
    handle = driver.CUipcMemHandle(reserved=bytes(range(64)))
    assert pickle.loads(pickle.dumps(handle)).reserved == bytes(range(64))


@pytest.mark.parametrize(
    ("struct", "field"),
    [
        (driver.CUlaunchConfig(hStream=driver.CUstream(5)), "hStream"),
        (driver.CUaccessPolicyWindow(base_ptr=4096), "base_ptr"),
    ],
)
def test_addresses_and_handles_are_not_pickled(struct, field):
    with pytest.raises(TypeError, match=f"cannot pickle .*'{field}' holds an address"):
        pickle.dumps(struct)


@pytest.mark.parametrize("cls", [driver.CUlaunchAttributeValue, runtime.cudaLaunchAttributeValue])
def test_a_union_is_pickled_for_any_member(cls):
    for name in ("priority", "cooperative"):
        assert getattr(pickle.loads(pickle.dumps(cls(**{name: 1}))), name) == 1


def test_a_struct_that_contains_a_union_is_pickled():
    attribute = driver.CUlaunchAttribute(
        id=driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_PRIORITY,
        value=driver.CUlaunchAttributeValue(priority=-2),
    )
    assert pickle.loads(pickle.dumps(attribute)).value.priority == -2


def test_restoring_other_bytes_is_refused():
    from cuda.bindings._low import struct_from_bytes

    with pytest.raises(ValueError, match="are not the contents"):
        struct_from_bytes(driver.CUextent3D, b"123")
    with pytest.raises(ValueError, match="are not the contents"):
        struct_from_bytes(int, b"123")


def test_representation_has_a_line_per_field_and_indents_structs():
    lines = repr(driver.CUmemPoolProps(maxSize=9)).splitlines()
    assert lines[0] == "allocType : <CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_INVALID: 0>"
    start = lines.index("location :")
    assert lines[start + 1].startswith("    type : <CUmemLocationType.")
    assert "maxSize : 9" in lines
    assert "win32SecurityAttributes : 0x0" in lines


def test_representation_of_an_identifier_is_hexadecimal():
    assert repr(driver.CUuuid()) == "bytes : " + "00" * 16


@pytest.mark.parametrize("address", ["x", None, 1.5], ids=repr)
def test_a_null_address_is_refused_by_name(address):
    message = r"^CUmemLocation\(\) argument '_ptr': expected an integer, got "
    for create in (
        lambda: driver.CUmemLocation(address),
        lambda: driver.CUmemLocation(_ptr=address),
        lambda: type("Derived", (driver.CUmemLocation,), {})(address),
    ):
        with pytest.raises(TypeError, match=message):
            create()


def test_sizeof():
    assert (
        driver.sizeof(driver.CUlaunchConfig) == driver.sizeof(objType=driver.CUlaunchConfig) == 56
    )
    assert driver.sizeof(driver.CUdevice) == 4
    assert driver.sizeof(driver.CUuuid) == 16
    for thing in (int, 5, driver.CUresult):
        with pytest.raises(TypeError, match="Unknown type"):
            driver.sizeof(thing)


def test_a_tensor_map_is_aligned_as_in_the_header():
    maps = [driver.CUtensorMap() for _ in range(20)]
    assert {m.getPtr() % 64 for m in maps} == {0}
    maps[0].opaque = list(range(16))
    assert [int(q) for q in maps[0].copy().opaque] == list(range(16))


def test_subclasses_may_have_attributes():
    class Mine(driver.CUlaunchConfig):
        pass

    config = Mine(gridDimX=3)
    config.name = "mine"
    reference = weakref.ref(config)
    assert (config.gridDimX, config.name) == (3, "mine")
    del config
    assert reference() is None


class TestChildren:
    """Nested structs and handles are views that retain their parent."""

    def test_a_nested_struct_is_the_same_object_while_it_is_referenced(self):
        properties = driver.CUmemPoolProps()
        location = properties.location
        assert properties.location.getPtr() == location.getPtr()
        assert (properties.location is location) == has_lock  # without it, a view for each reader
        assert location.getPtr() > properties.getPtr()

    def test_writing_through_a_view_writes_the_parent(self):
        properties = driver.CUmemPoolProps()
        properties.location.id = 7
        assert properties.location.id == 7

    def test_a_view_outlives_its_parent(self):
        location = driver.CUmemPoolProps().location
        gc.collect()
        location.id = 7
        assert location.id == 7

    def test_views_of_views_retain_the_root(self):
        window = driver.CUlaunchAttribute().value.accessPolicyWindow
        gc.collect()
        window.num_bytes = 9
        assert window.num_bytes == 9

    def test_a_handle_of_a_field_follows_it(self):
        config = driver.CUlaunchConfig()
        stream = config.hStream
        config.hStream = driver.CUstream(8)
        assert int(stream) == 8
        del config
        gc.collect()
        assert int(stream) == 8

    def test_a_dead_view_is_created_again(self):
        properties = driver.CUmemPoolProps()
        for i in range(1000):
            properties.location.id = i
        assert properties.location.id == 999

    def test_a_dead_view_of_a_view_is_created_again(self):
        info = driver.CUarrayMapInfo()
        for level in range(1000):
            info.subresource.sparseLevel.level = level
            assert info.subresource.sparseLevel.level == level
        sparse = info.subresource.sparseLevel
        del info
        assert sparse.level == 999

    def test_a_dead_view_does_not_retain_its_parent(self):
        class Mine(driver.CUmemPoolProps):
            pass

        properties = Mine()
        reference = weakref.ref(properties)
        properties.location.id = 3
        del properties
        assert reference() is None

    def test_parents_are_freed_with_the_last_view(self):
        class Mine(driver.CUmemPoolProps):
            pass

        properties = Mine()
        location = properties.location
        reference = weakref.ref(properties)
        del properties
        assert reference() is not None
        del location
        assert reference() is None


def test_a_struct_without_a_tag_is_one_class():
    info = nvrtc.nvrtcBundledHeadersInfo
    fields = {"available", "compressedSize", "uncompressedSize", "numFiles"}
    assert info.__bases__ == (object,) and fields <= vars(info).keys()
