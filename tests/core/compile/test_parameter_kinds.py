# SPDX-License-Identifier: Apache-2.0
"""Kernels of `extern "C"` have no type information; the PTX of the same compilation has it."""

import copy
import ctypes
import pickle

import numpy as np
import pytest
from cuda.core import Device, LaunchConfig, ObjectCode, Program, ProgramOptions, launch

SOURCE = """
extern "C" __global__ void nothing() {}
extern "C" __global__ void store(float a, int n, double b, const float* x, float* out)
{
    out[0] = a;
    out[1] = n;
    out[2] = b;
}
template <typename T> __global__ void scale(T a, T* out) { out[0] = a; }
extern "C" __global__ void last(float a, float* out) { out[0] = a; }
"""
OPTIONS = {"plain": {}, "lineinfo": {"lineinfo": True}, "debug": {"debug": True}}


@pytest.fixture(scope="module", params=OPTIONS)
def options(request):
    return ProgramOptions(arch=f"sm_{Device(0).arch}", **OPTIONS[request.param])


@pytest.fixture(scope="module", params=["cubin", "ptx"])
def compiled(request, options):
    with Program(SOURCE, "c++", options) as program:
        return program.compile(request.param, name_expressions=("scale<float>",))


@pytest.fixture
def unloaded(compiled):
    """Return a copy of the code that is not loaded yet; its library is unloaded with the test."""
    return lambda: copy.copy(compiled)


@pytest.fixture
def run(device, stream, pinned_block):
    """Return a function that launches a kernel and returns the floats of its last parameter."""

    def run(kernel, *values):
        launch(stream, LaunchConfig(grid=1, block=1), kernel, *values, pinned_block)
        stream.sync()
        return list((ctypes.c_float * 3).from_address(int(pinned_block.handle)))

    return run


@pytest.mark.parametrize(
    "make_copy", [lambda c: c, copy.copy, lambda c: pickle.loads(pickle.dumps(c))]
)
def test_an_int_for_a_float_parameter_is_converted(unloaded, make_copy, run):
    kernel = make_copy(unloaded()).get_kernel("store")
    assert run(kernel, 2, 3, 4, 0) == [2.0, 3.0, 4.0]
    assert run(kernel, -7.5, -3, 1 << 40, 0) == [-7.5, -3.0, 2.0**40]


def test_every_kernel_of_the_code_is_known(unloaded, run):
    code = unloaded()
    assert run(code.get_kernel("last"), 5)[0] == 5.0
    assert run(code.get_kernel("scale<float>"), 6)[0] == 6.0
    assert code.get_kernel("nothing").num_arguments == 0


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ((1.0, 2.0, 3.0, 0), r"argument 2 of 5: the parameter is an integer or a pointer"),
        (((1 << 24) + 1, 2, 3.0, 0), r"argument 1 of 5: .*no exact value in the parameter's type"),
        ((1.0, 2, 3.0, 4.0), r"argument 4 of 5: the parameter is an integer or a pointer"),
        ((np.float64(1), 2, 3.0, 0), r"argument 1 of 5: .*expected 4 bytes, got numpy.float64 \(8"),
    ],
)
def test_a_number_of_another_kind_is_refused(unloaded, run, values, message):
    with pytest.raises(TypeError, match=message):
        run(unloaded().get_kernel("store"), *values)


def test_a_scalar_of_fixed_width_is_passed_as_its_own_bytes(unloaded, run):
    """Existing code relies on this, for instance to pass the bits of a half."""
    values = np.float32(2).view(np.int32), np.float32(3).view(np.uint32), np.float64(4), 0
    assert run(unloaded().get_kernel("store"), *values)[0::2] == [2.0, 4.0]


def test_a_pointer_is_refused_for_a_float(unloaded, run, pinned_block):
    with pytest.raises(TypeError, match="argument 3 of 5"):
        run(unloaded().get_kernel("store"), 1.0, 2, pinned_block, 0)


def test_ptx_of_a_file_is_read_as_well(tmp_path, options, run):
    with Program(SOURCE, "c++", options) as program:
        code = program.compile("ptx")
    path = tmp_path / "kernels.ptx"
    path.write_bytes(code.code.rstrip(b"\0"))
    assert run(ObjectCode.from_ptx(path).get_kernel("store"), 2, 3, 4, 0) == [2.0, 3.0, 4.0]


def test_the_retained_ptx_information_is_small(options):
    with Program(SOURCE, "c++", options) as program:
        code = program.compile("cubin")
    assert len(pickle.dumps(code)) - len(code.code) < 2000
