# SPDX-License-Identifier: Apache-2.0
"""Functions of the runtime that take what a compiled program registers: kernels and variables."""

import ctypes
import struct
from ctypes import byref

import pytest
from cuda.bindings import driver
from cuda.core import emulation
from cuda.core.emulation import library

PTX = b""".version 7.0
.target sm_50
.address_size 64
.visible .global .align 4 .b8 table[16];
.visible .entry add(.param .u32 value, .param .u64 other, .param .u8 last) {
  .reg .u32 %r<3>;
  .reg .u64 %a<3>;
  ld.param.u32 %r0, [value];
  mov.u64 %a0, table;
  red.global.add.u32 [%a0], %r0;
  ret;
}
"""
size = ctypes.c_size_t
TO_DEVICE, TO_HOST, ANY = 1, 2, 4
INVALID_VALUE, INVALID_SYMBOL, INVALID_DIRECTION, INVALID_FUNCTION = 1, 13, 21, 98
INVALID_HANDLE, TOO_LARGE = 400, 720


class Dim3(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint) for name in "xyz"]


class Wrapper(ctypes.Structure):
    _fields_ = (
        *[("magic", ctypes.c_uint32), ("version", ctypes.c_uint32)],
        *[("image", ctypes.c_void_p), ("objects", ctypes.c_void_p)],
    )


def container_of(ptx):
    """Return a fat binary with one PTX text for compute_50."""
    ptx = ptx.ljust((len(ptx) + 8) // 8 * 8, b"\0")
    entry = struct.pack("<HHIQQII", 1, 0x0101, 64, len(ptx), 0, 0, 50).ljust(64, b"\0")
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(entry + ptx)) + entry + ptx


class Program:
    """A registered program. Its attributes are addresses that stand for a kernel and a variable."""

    def __init__(self, runtime):
        self.runtime = runtime
        self.image = ctypes.create_string_buffer(container_of(PTX))
        self.wrapper = Wrapper(0x466243B1, 1, ctypes.addressof(self.image), None)
        self.places = ctypes.create_string_buffer(2)
        self.kernel = ctypes.c_void_p(ctypes.addressof(self.places))
        self.table = ctypes.c_void_p(ctypes.addressof(self.places) + 1)
        register = runtime["__cudaRegisterFatBinary"]
        register.restype = ctypes.c_void_p
        self.handle = ctypes.c_void_p(register(byref(self.wrapper)))
        head = self.handle, self.kernel, None, b"add", -1
        self.call("__cudaRegisterFunction", *head, None, None, None, None, None)
        self.call("__cudaRegisterVar", self.handle, self.table, None, b"table", 0, size(16), 0, 0)
        self.call("__cudaRegisterFatBinaryEnd", self.handle)

    def call(self, name, *arguments):
        return self.runtime[name](*arguments)

    def words(self):
        """Return the four numbers of the variable."""
        values = (ctypes.c_int * 4)()
        assert (
            self.call("cudaMemcpyFromSymbol", values, self.table, size(16), size(0), TO_HOST) == 0
        )
        return list(values)

    def close(self):
        self.call("__cudaUnregisterFatBinary", self.handle)


@pytest.fixture
def program():
    if not emulation.is_active():
        pytest.skip("this is about the emulated runtime")
    program = Program(ctypes.CDLL(library.runtime_path()))
    yield program
    program.call("cudaGetLastError")
    program.close()


@pytest.fixture
def graph(program):
    graph = ctypes.c_void_p()
    assert program.call("cudaGraphCreate", byref(graph), 0) == 0
    yield graph
    assert program.call("cudaGraphDestroy", graph) == 0


def numbers(*values):
    return (ctypes.c_int * len(values))(*values)


def test_asynchronous_copies_reach_the_part_of_a_variable(program):
    stream, source, target = ctypes.c_void_p(), numbers(7, 8), numbers(0, 0)
    part = size(8), size(4)
    assert program.call("cudaStreamCreate", byref(stream)) == 0
    write = "cudaMemcpyToSymbolAsync", program.table, source, *part
    read = "cudaMemcpyFromSymbolAsync", target, program.table, *part
    assert program.call(*write, TO_DEVICE, stream) == 0
    assert program.call(*read, TO_HOST, stream) == 0
    assert program.call("cudaStreamSynchronize", stream) == 0
    assert program.words() == [0, 7, 8, 0]
    assert list(target) == [7, 8]
    assert program.call(*write, TO_HOST, stream) == INVALID_DIRECTION
    assert program.call(*read, TO_DEVICE, stream) == INVALID_DIRECTION
    assert program.call(*write, ANY, stream) == program.call(*read, ANY, stream) == 0
    assert program.call("cudaStreamDestroy", stream) == 0


@pytest.mark.parametrize(
    ("count", "offset", "status"),
    [(16, 0, 0), (0, 16, 0), (17, 0, 1), (1, 16, 1), (8, 9, 1), (0, 17, 1), (2**64 - 1, 1, 1)],
)
def test_a_part_must_be_in_the_variable(program, count, offset, status):
    part, memory = (size(count), size(offset)), numbers(0, 0, 0, 0)
    assert program.call("cudaMemcpyToSymbol", program.table, memory, *part, TO_DEVICE) == status
    assert program.call("cudaMemcpyFromSymbol", memory, program.table, *part, TO_HOST) == status


def test_a_symbol_needs_a_place_for_its_address_and_size(program):
    assert program.call("cudaGetSymbolAddress", None, program.table) == INVALID_VALUE
    assert program.call("cudaGetSymbolSize", None, program.table) == INVALID_VALUE
    assert program.call("cudaGetSymbolSize", byref(size()), program.kernel) == INVALID_SYMBOL


def run_graph(program, graph, update=None):
    """Launch a graph, updated after its instantiation if at all."""
    executable = ctypes.c_void_p()
    assert program.call("cudaGraphInstantiate", byref(executable), graph, size(0)) == 0
    if update:
        name, node, *arguments = update
        assert program.call(name, executable, node, *arguments) == 0
    assert program.call("cudaGraphLaunch", executable, None) == 0
    assert program.call("cudaDeviceSynchronize") == 0
    assert program.call("cudaGraphExecDestroy", executable) == 0


def test_nodes_copy_to_a_variable(program, graph):
    node, values = ctypes.c_void_p(), numbers(1, 2, 3)
    places = [byref(values, 4 * at) for at in range(3)]
    part = size(4), size(4)
    add = "cudaGraphAddMemcpyNodeToSymbol", byref(node), graph, None, size(0), program.table
    assert program.call(*add, places[0], *part, TO_HOST) == INVALID_DIRECTION
    assert program.call(*add, places[0], *part, TO_DEVICE) == 0
    run_graph(program, graph)
    assert program.words() == [0, 1, 0, 0]
    change = "cudaGraphMemcpyNodeSetParamsToSymbol", node, program.table, places[1]
    assert program.call(*change, *part, TO_HOST) == INVALID_DIRECTION
    assert program.call(*change, size(4), size(8), TO_DEVICE) == 0
    run_graph(program, graph)
    assert program.words() == [0, 1, 2, 0]
    update = "cudaGraphExecMemcpyNodeSetParamsToSymbol", node, program.table, places[2]
    run_graph(program, graph, [*update, size(4), size(12), TO_DEVICE])
    assert program.words() == [0, 1, 2, 3]


def test_nodes_copy_from_a_variable(program, graph):
    node, source, values = ctypes.c_void_p(), numbers(4, 5, 6, 7), numbers(0, 0, 0)
    places = [byref(values, 4 * at) for at in range(3)]
    whole = size(16), size(0)
    assert program.call("cudaMemcpyToSymbol", program.table, source, *whole, TO_DEVICE) == 0
    add = "cudaGraphAddMemcpyNodeFromSymbol", byref(node), graph, None, size(0), places[0]
    part = program.table, size(4), size(4)
    assert program.call(*add, *part, TO_DEVICE) == INVALID_DIRECTION
    assert program.call(*add, *part, TO_HOST) == 0
    run_graph(program, graph)
    assert list(values) == [5, 0, 0]
    change = "cudaGraphMemcpyNodeSetParamsFromSymbol", node, places[1], program.table
    assert program.call(*change, size(4), size(8), TO_DEVICE) == INVALID_DIRECTION
    assert program.call(*change, size(4), size(8), TO_HOST) == 0
    run_graph(program, graph)
    assert list(values) == [5, 6, 0]
    update = "cudaGraphExecMemcpyNodeSetParamsFromSymbol", node, places[2], program.table
    run_graph(program, graph, [*update, size(4), size(12), TO_HOST])
    assert list(values) == [5, 6, 7]


def test_a_kernel_tells_its_name_and_parameters(program):
    name, count, offset, bytes_ = ctypes.c_char_p(), size(), size(), size()
    assert program.call("cudaFuncGetName", byref(name), program.kernel) == 0
    assert program.call("cudaFuncGetParamCount", program.kernel, byref(count)) == 0
    info = "cudaFuncGetParamInfo", program.kernel
    layout = []
    for index in range(count.value):
        assert program.call(*info, size(index), byref(offset), byref(bytes_)) == 0
        layout.append((offset.value, bytes_.value))
    assert (name.value, layout) == (b"add", [(0, 4), (8, 8), (16, 1)])
    assert program.call(*info, size(3), byref(offset), byref(bytes_)) == INVALID_VALUE


def test_what_is_no_kernel_is_refused(program):
    out = ctypes.c_void_p()
    assert program.call("cudaGetKernel", byref(out), program.table) == INVALID_FUNCTION
    for name in ("cudaFuncGetName", "cudaGetFuncBySymbol"):  # may be a kernel of the driver
        assert program.call(name, byref(out), program.table) == INVALID_HANDLE
    for name in ("cudaGetFuncBySymbol", "cudaGetKernel"):
        assert program.call(name, None, program.kernel) == INVALID_VALUE
    assert program.call("cudaFuncGetAttributes", None, program.kernel) == INVALID_VALUE


def test_the_function_of_a_kernel_is_the_drivers(program):
    function, kernel = ctypes.c_void_p(), ctypes.c_void_p()
    assert program.call("cudaGetFuncBySymbol", byref(function), program.kernel) == 0
    assert program.call("cudaGetKernel", byref(kernel), program.kernel) == 0
    assert driver.cuFuncGetName(driver.CUfunction(function.value))[1] == b"add"
    assert driver.cuKernelGetName(driver.CUkernel(kernel.value))[1] == b"add"


def test_a_cooperative_launch_is_cooperative(program):
    """The grid must fit on the device; other launches have no such limit."""
    value, other, last = ctypes.c_uint(3), ctypes.c_uint64(), ctypes.c_uint8()
    arguments = (ctypes.c_void_p * 3)(*map(ctypes.addressof, (value, other, last)))
    one, many = Dim3(1, 1, 1), Dim3(1 << 20, 1, 1)
    launch = "cudaLaunchCooperativeKernel", program.kernel
    before = program.words()[0]
    assert program.call(*launch, Dim3(2, 1, 1), one, arguments, size(0), None) == 0
    assert program.words()[0] == before + 6
    assert program.call(*launch, many, one, arguments, size(0), None) == TOO_LARGE


@pytest.mark.parametrize(
    "name", ["cudaOccupancyMaxPotentialClusterSize", "cudaOccupancyMaxActiveClusters"]
)
def test_clusters_are_counted_for_a_configuration(program, name):
    class Configuration(ctypes.Structure):
        _fields_ = (
            *[("grid", Dim3), ("block", Dim3), ("bytes", size)],
            *[("stream", ctypes.c_void_p), ("attributes", ctypes.c_void_p)],
            ("count", ctypes.c_uint),
        )

    given, out = Configuration(Dim3(8, 1, 1), Dim3(64, 1, 1)), ctypes.c_int(-1)
    assert program.call(name, byref(out), program.kernel, None) == INVALID_VALUE
    assert program.call(name, byref(out), program.kernel, byref(given)) == 0
    function = ctypes.c_void_p()
    program.call("cudaGetFuncBySymbol", byref(function), program.kernel)
    config = driver.CUlaunchConfig()
    config.gridDimX, config.gridDimY, config.gridDimZ = 8, 1, 1
    config.blockDimX, config.blockDimY, config.blockDimZ = 64, 1, 1
    ask = getattr(driver, name.replace("cudaOccupancy", "cuOccupancy"))
    assert out.value == ask(driver.CUfunction(function.value), config)[1] > 0


@pytest.mark.parametrize("name", ["__cudaRegisterHostVar", "__cudaRegisterUnifiedTable"])
def test_a_registration_without_effect_is_reported(program, name, capfd):
    program.call(name, program.handle, None, None, size(0))
    assert capfd.readouterr().err == f"emulator: {name} is not emulated\n"


def test_the_address_of_a_driver_function_is_not_given(program, capfd):
    function = program.runtime["__cudaGetProcAddress"]
    function.restype = ctypes.c_void_p
    assert function() is None
    assert capfd.readouterr().err == "emulator: __cudaGetProcAddress is not emulated\n"
