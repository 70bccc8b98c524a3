# SPDX-License-Identifier: Apache-2.0
"""Kernels of `extern "C"` have no types in their symbol: the PTX of the same compilation has them."""

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
def code(request, options):
    with Program(SOURCE, "c++", options) as program:
        return program.compile(request.param, name_expressions=("scale<float>",))


@pytest.fixture
def run(device, stream, pinned_block):
    """Launches a kernel with values before the output; the floats that it wrote."""

    def run(kernel, *values):
        launch(stream, LaunchConfig(grid=1, block=1), kernel, *values, pinned_block)
        stream.sync()
        return list((ctypes.c_float * 3).from_address(int(pinned_block.handle)))

    return run


@pytest.mark.parametrize("made", [lambda c: c, copy.copy, lambda c: pickle.loads(pickle.dumps(c))])
def test_an_int_for_a_float_parameter_is_converted(code, made, run):
    kernel = made(code).get_kernel("store")
    assert run(kernel, 2, 3, 4, 0) == [2.0, 3.0, 4.0]
    assert run(kernel, -7.5, -3, 1 << 40, 0) == [-7.5, -3.0, 2.0**40]


def test_every_kernel_of_the_code_is_known(code, run):
    assert run(code.get_kernel("last"), 5)[0] == 5.0
    assert run(code.get_kernel("scale<float>"), 6)[0] == 6.0
    assert code.get_kernel("nothing").num_arguments == 0


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ((1.0, 2.0, 3.0, 0), r"argument 2 of 5 .*the parameter is an integer or a pointer"),
        (((1 << 24) + 1, 2, 3.0, 0), r"argument 1 of 5 .*no exact value in the parameter's type"),
        ((1.0, 2, 3.0, 4.0), r"argument 4 of 5 .*the parameter is an integer or a pointer"),
        ((np.int32(1), 2, 3.0, 0), r"argument 1 of 5"),
    ],
)
def test_a_number_of_another_kind_is_refused(code, run, values, said):
    with pytest.raises(TypeError, match=said):
        run(code.get_kernel("store"), *values)


def test_a_pointer_goes_into_no_float(code, run, pinned_block):
    with pytest.raises(TypeError, match="argument 3 of 5"):
        run(code.get_kernel("store"), 1.0, 2, pinned_block, 0)


def test_ptx_of_a_file_is_read_as_well(tmp_path, options, run):
    with Program(SOURCE, "c++", options) as program:
        made = program.compile("ptx")
    path = tmp_path / "kernels.ptx"
    path.write_bytes(made.code.rstrip(b"\0"))
    assert run(ObjectCode.from_ptx(path).get_kernel("store"), 2, 3, 4, 0) == [2.0, 3.0, 4.0]


def test_what_is_kept_of_the_ptx_is_small(options):
    with Program(SOURCE, "c++", options) as program:
        made = program.compile("cubin")
    assert len(pickle.dumps(made)) - len(made.code) < 2000
