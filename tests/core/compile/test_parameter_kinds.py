# SPDX-License-Identifier: Apache-2.0
"""Kernels of `extern "C"` tell no types; the PTX of the same compilation does."""

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
def fresh(compiled):
    """Makes the code anew, not loaded yet: what it loads goes with the test."""
    return lambda: copy.copy(compiled)


@pytest.fixture
def run(device, stream, pinned_block):
    """Launches a kernel with values before the output; the floats that it wrote."""

    def run(kernel, *values):
        launch(stream, LaunchConfig(grid=1, block=1), kernel, *values, pinned_block)
        stream.sync()
        return list((ctypes.c_float * 3).from_address(int(pinned_block.handle)))

    return run


@pytest.mark.parametrize("made", [lambda c: c, copy.copy, lambda c: pickle.loads(pickle.dumps(c))])
def test_an_int_for_a_float_parameter_is_converted(fresh, made, run):
    kernel = made(fresh()).get_kernel("store")
    assert run(kernel, 2, 3, 4, 0) == [2.0, 3.0, 4.0]
    assert run(kernel, -7.5, -3, 1 << 40, 0) == [-7.5, -3.0, 2.0**40]


def test_every_kernel_of_the_code_is_known(fresh, run):
    code = fresh()
    assert run(code.get_kernel("last"), 5)[0] == 5.0
    assert run(code.get_kernel("scale<float>"), 6)[0] == 6.0
    assert code.get_kernel("nothing").num_arguments == 0


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ((1.0, 2.0, 3.0, 0), r"argument 2 of 5: the parameter is an integer or a pointer"),
        (((1 << 24) + 1, 2, 3.0, 0), r"argument 1 of 5: .*no exact value in the parameter's type"),
        ((1.0, 2, 3.0, 4.0), r"argument 4 of 5: the parameter is an integer or a pointer"),
        ((np.float64(1), 2, 3.0, 0), r"argument 1 of 5: .*expected 4 bytes, got numpy.float64 \(8"),
    ],
)
def test_a_number_of_another_kind_is_refused(fresh, run, values, said):
    with pytest.raises(TypeError, match=said):
        run(fresh().get_kernel("store"), *values)


def test_a_scalar_of_fixed_width_goes_as_its_own_bytes(fresh, run):
    """What existing code does on purpose, for instance with the bits of a half."""
    values = np.float32(2).view(np.int32), np.float32(3).view(np.uint32), np.float64(4), 0
    assert run(fresh().get_kernel("store"), *values)[0::2] == [2.0, 4.0]


def test_a_pointer_goes_into_no_float(fresh, run, pinned_block):
    with pytest.raises(TypeError, match="argument 3 of 5"):
        run(fresh().get_kernel("store"), 1.0, 2, pinned_block, 0)


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
