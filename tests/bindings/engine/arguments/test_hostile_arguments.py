# SPDX-License-Identifier: Apache-2.0
"""Arguments that change, are destroyed or act while they are converted or used."""

import ctypes
import sys

import pytest
from cuda.bindings import driver, nvrtc

Pointer, Size, Unsigned = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint
has_python_buffers = pytest.mark.skipif(
    sys.version_info < (3, 12), reason="classes of Python have no buffers before 3.12"
)


class Text(bytes):
    """Bytes that record their destruction."""

    destroyed: list = []  # noqa: RUF012 - the class is used by one test at a time

    def __del__(self):
        self.destroyed.append(bytes(self))


@pytest.fixture
def destroyed():
    Text.destroyed = []
    return Text.destroyed


class Strikes:
    """Empties a list when it is converted."""

    def __init__(self, victim):
        self.victim = victim

    def strike(self, *_):
        self.victim.clear()
        return 1

    __index__ = __int__ = strike

    def __float__(self):
        return float(self.strike())


def test_texts_live_until_a_call_that_empties_their_list_returns(put, destroyed):
    options = [Text(b"-a"), Text(b"-b")]
    seen = []

    def compile_(_program, count, _options):
        options.clear()
        seen.append(list(destroyed))

    put("nvrtcCompileProgram", compile_, Pointer, ctypes.c_int, Pointer)
    nvrtc.nvrtcCompileProgram(0, 2, options)
    assert seen == [[]]
    assert sorted(destroyed) == [b"-a", b"-b"]


def test_a_single_struct_lives_until_its_call_returns(put):
    destroyed, seen = [], []

    class Access(driver.CUmemAccessDesc):
        def __del__(self):
            destroyed.append(self)

    descriptions = [Access()]

    def set_access(_pool, _array, _count):
        descriptions.clear()
        seen.append(len(destroyed))

    put("cuMemPoolSetAccess", set_access, Pointer, Pointer, Size)
    driver.cuMemPoolSetAccess(1, descriptions, 1)
    assert seen == [0]
    assert len(destroyed) == 1


LOAD = "cuLibraryLoadData", *[Pointer] * 4, Unsigned, Pointer, Pointer, Unsigned


def load(options, values):
    return driver.cuLibraryLoadData(b"", options, values, len(options), [], [], 0)


def test_option_values_live_until_a_call_that_empties_their_list_returns(put, destroyed):
    names = driver.CUjit_option.CU_JIT_GLOBAL_SYMBOL_NAMES
    values = [[Text(b"one"), Text(b"two")]]
    seen = []

    def load_(*_):
        values[0].clear()
        values.clear()
        seen.append(list(destroyed))

    put(LOAD[0], load_, *LOAD[1:])
    load([names], values)
    assert seen == [[]]
    assert len(destroyed) == 2


def test_a_list_of_option_values_that_shrinks_is_refused(calls):
    calls(*LOAD)
    values = []
    values += [Strikes(values), 2]
    option = driver.CUjit_option.CU_JIT_MAX_REGISTERS
    with pytest.raises(RuntimeError, match="argument 'jitOptionsValues': List is too small: 1 < 2"):
        load([option, option], values)


def test_a_list_inside_an_option_that_shrinks_is_refused(calls):
    seen = calls("cuMemRangeGetAttribute", Pointer, Size, ctypes.c_int, ctypes.c_uint64, Size)
    calls(*LOAD)
    addresses = []
    addresses += [Strikes(addresses), 2, 3]
    option = driver.CUjit_option.CU_JIT_GLOBAL_SYMBOL_ADDRESSES
    with pytest.raises(RuntimeError, match="changed its length"):
        load([option], [addresses])
    assert seen == []


def test_channels_of_a_color_that_shrink_are_refused(calls):
    calls("cuTexRefSetBorderColor", Pointer, Pointer)
    channels = []
    channels += [Strikes(channels), 2.0, 3.0]
    with pytest.raises(RuntimeError, match="argument 'pBorderColor': .* changed its length"):
        driver.cuTexRefSetBorderColor(0, channels)


class Moves:
    """Returns different memory for each buffer request."""

    def __init__(self):
        self.shown = []

    def __buffer__(self, flags):
        self.shown.append(bytearray(64))
        return memoryview(self.shown[-1])


def address(memory):
    return ctypes.addressof(ctypes.c_char.from_buffer(memory))


@has_python_buffers
def test_an_address_field_retains_the_memory_that_it_points_at():
    moves = Moves()
    copy = driver.CUDA_MEMCPY2D(srcHost=moves)
    assert len(moves.shown) == 1
    assert copy.srcHost == address(moves.shown[0])


@has_python_buffers
def test_kernel_parameters_of_a_struct_retain_the_memory_that_they_point_at():
    moves = Moves()
    node = driver.CUDA_KERNEL_NODE_PARAMS(kernelParams=moves)
    assert len(moves.shown) == 1
    assert node.kernelParams == address(moves.shown[0])


@has_python_buffers
def test_a_log_buffer_of_a_linker_that_moves_is_refused(calls):
    calls("cuLinkCreate", Unsigned, Pointer, Pointer, Pointer)
    option = driver.CUjit_option.CU_JIT_INFO_LOG_BUFFER
    with pytest.raises(BufferError, match="'optionValues'.*moved"):
        driver.cuLinkCreate(1, [option], [Moves()])


@has_python_buffers
def test_an_interrupt_during_a_conversion_is_not_swallowed(calls):
    calls("cuMemcpyHtoD", ctypes.c_uint64, Pointer, Size)

    class Both:
        def __index__(self):
            raise KeyboardInterrupt

        def __buffer__(self, flags):
            return memoryview(bytearray(64))

    with pytest.raises(KeyboardInterrupt):
        driver.cuMemcpyHtoD(0, Both(), 1)


@pytest.mark.parametrize("name", [5, None, b"CUresult"], ids=repr)
def test_a_name_that_is_no_string_is_no_attribute(on_null_driver, name):
    code = f"""
import cuda.bindings.driver as driver
try:
    driver.__getattr__({name!r})
except TypeError as error:
    print(error)
"""
    assert "must be str" in on_null_driver(code)


def test_odd_keys_of_a_module_have_no_effect(on_null_driver):
    code = """
import cuda.bindings.driver as driver
vars(driver).update({5: 1, "": 2})
print(driver.CUresult(0).name, 5 in driver.__all__, "" in driver.__all__)
"""
    assert on_null_driver(code).split() == ["CUDA_SUCCESS", "False", "False"]


def test_a_count_beyond_all_memory_is_an_error_and_is_not_allocated(calls):
    calls("cuGraphGetNodes", Pointer, Pointer, Pointer)
    with pytest.raises((MemoryError, ValueError)):
        driver.cuGraphGetNodes(0, 2**60)
