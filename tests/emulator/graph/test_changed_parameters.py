# SPDX-License-Identifier: Apache-2.0
"""Nodes of copies and fills describe their parameters, and updates refuse some changes."""

import ctypes

import pytest
from cuda.bindings import driver

from tests.emulator.graph.conftest import check, copy_parameters

Result = driver.CUgraphExecUpdateResult
Kind = driver.CUmemorytype
DONE = Result.CU_GRAPH_EXEC_UPDATE_SUCCESS
CHANGED = Result.CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED
SUCCESS, FAILED = 0, driver.CUresult.CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE


def add_copy(graph, parameters):
    context = check(*driver.cuCtxGetCurrent())
    return check(*driver.cuGraphAddMemcpyNode(graph, [], 0, parameters, context))


def add_fill(graph, address, **fields):
    parameters = driver.CUDA_MEMSET_NODE_PARAMS()
    shape = {"elementSize": 1, "width": 4, "height": 1, "pitch": 0, "value": 3}
    for name, number in {"dst": address, **shape, **fields}.items():
        setattr(parameters, name, number)
    context = check(*driver.cuCtxGetCurrent())
    return check(*driver.cuGraphAddMemsetNode(graph, [], 0, parameters, context))


def update(executable, graph):
    """Call the C function, since the Python function returns no results beside an error."""
    default = driver.CUdriverProcAddress_flags.CU_GET_PROC_ADDRESS_DEFAULT
    address, _ = check(*driver.cuGetProcAddress(b"cuGraphExecUpdate", 12000, default))
    function = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 3)(int(address))
    info = driver.CUgraphExecUpdateResultInfo()
    code = function(int(executable), int(graph), info.getPtr())
    return code, info.result, int(info.errorNode)


@pytest.fixture
def other():
    graph = check(*driver.cuGraphCreate(0))
    yield graph
    check(*driver.cuGraphDestroy(graph))


@pytest.fixture
def host_memory():
    return (ctypes.c_char * 256)()


SIDES = {"src": 0, "dst": 512}


def parameters_between(kinds, memory, host_memory):
    """Return a copy of 16 bytes between two kinds of memory."""
    parameters = copy_parameters(0, 0)
    for (side, offset), kind in zip(SIDES.items(), kinds, strict=True):
        setattr(parameters, f"{side}MemoryType", kind)
        if kind == Kind.CU_MEMORYTYPE_HOST:
            setattr(parameters, f"{side}Host", ctypes.addressof(host_memory))
        else:
            setattr(parameters, f"{side}Device", memory + offset)
    return parameters


HOST, DEVICE = Kind.CU_MEMORYTYPE_HOST, Kind.CU_MEMORYTYPE_DEVICE
PAIRS = {"to-device": (HOST, DEVICE), "to-host": (DEVICE, HOST), "on-device": (DEVICE, DEVICE)}


@pytest.mark.parametrize("kinds", PAIRS.values(), ids=PAIRS)
def test_a_copy_describes_both_of_its_sides(graph, memory, host_memory, kinds):
    node = add_copy(graph, parameters_between(kinds, memory, host_memory))
    read = check(*driver.cuGraphMemcpyNodeGetParams(node))
    for (side, offset), kind in zip(SIDES.items(), kinds, strict=True):
        is_host = kind == HOST
        assert getattr(read, f"{side}MemoryType") == kind
        assert int(getattr(read, f"{side}Host")) == is_host * ctypes.addressof(host_memory)
        assert int(getattr(read, f"{side}Device")) == (not is_host) * (memory + offset)
        assert int(getattr(read, f"{side}Array")) == 0
        # The pitch of one row and the height of one slice are their own sizes.
        assert getattr(read, f"{side}Pitch") == 16
        assert getattr(read, f"{side}Height") == 1
    assert (read.WidthInBytes, read.Height, read.Depth) == (16, 1, 1)


def test_a_copy_describes_the_position_in_an_array(graph, memory):
    shape = driver.CUDA_ARRAY3D_DESCRIPTOR()
    shape.Width, shape.Height, shape.Depth, shape.NumChannels = 16, 8, 4, 1
    shape.Format = driver.CUarray_format.CU_AD_FORMAT_UNSIGNED_INT8
    arrays = [check(*driver.cuArray3DCreate(shape)) for _ in range(2)]
    parameters = copy_parameters(0, 0, 4)
    positions = {"src": (1, 2, 3), "dst": (5, 4, 2)}
    for (side, position), array in zip(positions.items(), arrays, strict=True):
        setattr(parameters, f"{side}MemoryType", Kind.CU_MEMORYTYPE_ARRAY)
        setattr(parameters, f"{side}Array", array)
        for name, number in zip(("XInBytes", "Y", "Z"), position, strict=True):
            setattr(parameters, side + name, number)
    read = check(*driver.cuGraphMemcpyNodeGetParams(add_copy(graph, parameters)))
    for (side, position), array in zip(positions.items(), arrays, strict=True):
        assert getattr(read, f"{side}MemoryType") == Kind.CU_MEMORYTYPE_ARRAY
        assert int(getattr(read, f"{side}Array")) == int(array)
        assert tuple(getattr(read, side + name) for name in ("XInBytes", "Y", "Z")) == position
        assert (int(getattr(read, f"{side}Device")), int(getattr(read, f"{side}Host"))) == (0, 0)
        assert (getattr(read, f"{side}Pitch"), getattr(read, f"{side}Height")) == (0, 0)
    for each in arrays:
        check(*driver.cuArrayDestroy(each))


FILLS = {
    "bytes": {"elementSize": 1, "width": 24, "height": 1, "value": 0xA1},
    "halves": {"elementSize": 2, "width": 12, "height": 1, "value": 0xA1B2},
    "words": {"elementSize": 4, "width": 6, "height": 1, "value": 0xA1B2C3D4},
    "rows": {"elementSize": 4, "width": 3, "height": 5, "pitch": 64, "value": 1},
}


@pytest.mark.parametrize("fields", FILLS.values(), ids=FILLS)
def test_a_fill_describes_its_rows(graph, memory, fields):
    node = add_fill(graph, memory + 16, **fields)
    read = check(*driver.cuGraphMemsetNodeGetParams(node))
    assert int(read.dst) == memory + 16
    assert {name: getattr(read, name) for name in fields} == fields


ROWS = {"height": 2, "pitch": 8}
FILL_UPDATES = {
    "value": ({}, {"value": 9}, DONE),
    "width-of-a-row": ({}, {"width": 8}, DONE),
    "element-of-a-row": ({}, {"elementSize": 2}, DONE),
    "more-rows": ({}, ROWS, CHANGED),
    "fewer-rows": (ROWS, {}, CHANGED),
    "value-of-rows": (ROWS, ROWS | {"value": 9}, DONE),
    "width-of-rows": (ROWS, ROWS | {"width": 3}, CHANGED),
    "pitch-of-rows": (ROWS, ROWS | {"pitch": 16}, CHANGED),
    "element-of-rows": (ROWS, ROWS | {"elementSize": 2}, CHANGED),
}


@pytest.mark.parametrize(("before", "after", "result"), FILL_UPDATES.values(), ids=FILL_UPDATES)
def test_an_update_of_a_fill_keeps_its_shape(
    graph, other, memory, executable, before, after, result
):
    add_fill(graph, memory, **before)
    node = add_fill(other, memory + 64, **after)
    expected = (SUCCESS, DONE, 0) if result == DONE else (FAILED, CHANGED, int(node))
    assert update(executable(), other) == expected


@pytest.mark.parametrize("after", PAIRS.values(), ids=PAIRS)
@pytest.mark.parametrize("before", PAIRS.values(), ids=PAIRS)
def test_an_update_of_a_copy_keeps_the_kinds_of_memory(
    graph, other, memory, host_memory, executable, before, after
):
    add_copy(graph, parameters_between(before, memory, host_memory))
    node = add_copy(other, parameters_between(after, memory, host_memory))
    expected = (SUCCESS, DONE, 0) if before == after else (FAILED, CHANGED, int(node))
    assert update(executable(), other) == expected


@pytest.mark.parametrize("member", ["Height", "Depth"])
@pytest.mark.parametrize("is_first", [True, False], ids=["from-rows", "to-rows"])
def test_a_single_change_of_a_copy_is_of_one_row(graph, memory, executable, member, is_first):
    single, rows = copy_parameters(memory + 512, memory), copy_parameters(memory + 512, memory)
    setattr(rows, member, 2)
    rows.srcPitch = rows.dstPitch = 16
    rows.srcHeight = rows.dstHeight = 2
    first, second = (rows, single) if is_first else (single, rows)
    node, context = add_copy(graph, first), check(*driver.cuCtxGetCurrent())
    ready = executable()
    change = driver.cuGraphExecMemcpyNodeSetParams
    assert change(ready, node, second, context)[0] == driver.CUresult.CUDA_ERROR_INVALID_VALUE
