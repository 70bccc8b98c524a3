# SPDX-License-Identifier: Apache-2.0
"""Mistakes that programs make seldom: each error says what was given and what to pass instead."""

import io
import pathlib

import numpy as np
import pytest
from cuda.core import (
    CUDAError,
    Device,
    LaunchConfig,
    Linker,
    ObjectCode,
    Program,
    TensorMapDescriptor,
)
from cuda.core.graph import GraphBuilder
from cuda.core.utils import StridedMemoryView

NOTHING = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry nothing() { ret; }"


def compile_source(*arguments, **keywords):
    with Program(*arguments) as program:
        return program.compile("ptx", **keywords)


CALLS = [
    (lambda: Program(pathlib.Path("a.cu"), "c++"), TypeError, r"pass the text .*path\.read_text"),
    (lambda: Program(3, "c++"), TypeError, "Expected type str, but got int$"),
    (
        lambda: compile_source("__global__ void f() {}", "c++", logs=3),
        TypeError,
        r"logs must have a method write\(str\), such as an open file, got 3",
    ),
    (lambda: Linker([]), TypeError, "Expected type ObjectCode, but got list: pass each ObjectCode"),
    (lambda: Linker((1, 2)), TypeError, "but got tuple: pass each ObjectCode as an argument"),
    (lambda: Linker(b"x"), TypeError, r"but got bytes: pass ObjectCode\.from_cubin\(code\)"),
    (lambda: Linker(), ValueError, "At least one ObjectCode object must be provided"),
    (lambda: Program(), TypeError, r"the call is Program\(code, code_type, options=None\)"),
    (lambda: Device(-1), ValueError, "device_id must be >= 0, got -1"),
    (lambda: GraphBuilder.begin_building(3), TypeError, "GraphBuilder"),
    (
        lambda: TensorMapDescriptor._from_im2col(3, [0], [0], 1, 1),
        TypeError,
        "a tensor map requires a StridedMemoryView, got int",
    ),
]


@pytest.mark.parametrize(("call", "error", "message"), CALLS)
def test_the_error_says_what_was_given(device, call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_a_program_is_initialized_once():
    with Program("__global__ void f() {}", "c++") as program:
        with pytest.raises(RuntimeError, match="Program is initialized already"):
            program.__init__("__global__ void g() {}", "c++")
        assert b"f" in bytes(program.compile("ptx").code)


def test_attributes_of_a_launch_cannot_be_deleted():
    config = LaunchConfig(grid=1, block=1)
    with pytest.raises(AttributeError, match="cannot be deleted; assign None to unset it"):
        del config.priority
    config.priority = None
    assert config.priority is None


def test_the_mode_of_a_builder_is_a_text(device):
    with device.create_graph_builder() as builder:
        with pytest.raises(TypeError, match=r"'mode' has incorrect type \(expected str, got int\)"):
            builder.begin_building(mode=3)
        with pytest.raises(ValueError, match="Unsupported build mode: x; use 'relaxed'"):
            builder.begin_building(mode="x")


def test_a_builder_of_a_stream(stream):
    with GraphBuilder._init(stream) as builder:
        assert not builder.is_building
        builder.begin_building()
        assert stream.is_capturing if hasattr(stream, "is_capturing") else builder.is_building
        builder.end_building()


def test_a_parent_must_be_capturing(device):
    child = device.create_graph_builder().begin_building().end_building()
    with device.create_graph_builder() as parent:
        with pytest.raises(ValueError, match="Parent graph is not being built"):
            parent.embed(child)
    child.close()


def test_the_old_print_of_a_builder(device, tmp_path):
    builder = device.create_graph_builder().begin_building().end_building()
    with pytest.warns(DeprecationWarning, match=r"debug_print\(\).*debug_dot_print\(\)"):
        text = builder.debug_print()
    with pytest.warns(DeprecationWarning):
        builder.debug_print(str(tmp_path / "graph.dot"))
    assert text == (tmp_path / "graph.dot").read_text() and text.startswith("digraph")
    builder.close()


def test_an_error_names_the_file_of_the_code(device, tmp_path):
    path = tmp_path / "wrong.ptx"
    path.write_text(NOTHING.replace("ret", "xyz"))
    with pytest.raises(CUDAError) as caught:
        ObjectCode.from_ptx(str(path)).get_kernel("nothing")
    assert f"the code is the file {str(path)!r}" in caught.value.__notes__
    with pytest.raises(CUDAError, match=r"none\.ptx' cannot be read"):
        ObjectCode.from_ptx(str(tmp_path / "none.ptx")).get_kernel("nothing")


def test_the_shared_memory_of_a_block_size(device):
    code = ObjectCode.from_ptx(NOTHING.encode())
    occupancy = code.get_kernel("nothing").occupancy
    with pytest.raises(TypeError, match="must be an int, a callable or a driver.CUoccupancyB2DS"):
        occupancy.max_potential_block_size("x", 0)
    constant = occupancy.max_potential_block_size(1024, 128)
    assert occupancy.max_potential_block_size(lambda block: 1024, 128) == constant
    assert constant.max_block_size <= 128 and constant.min_grid_size >= 1


class TestViews:
    def test_types_that_dlpack_lacks(self):
        for dtype, message in (
            (np.dtype([("a", "i4")]), "Structured dtypes are not supported"),
            (np.dtype(">i4"), "Non-native-endian dtypes are not supported"),
            (np.dtype("S4"), "Unsupported dtype for DLPack export"),
        ):
            view = StridedMemoryView.from_array_interface(np.zeros(2, dtype)).view(dtype=dtype)
            assert view.dtype == dtype
            with pytest.raises(BufferError, match=message):
                view.__dlpack__()

    def test_a_view_of_nothing_has_no_type(self):
        with pytest.warns(DeprecationWarning, match="empty StridedMemoryView is deprecated"):
            view = StridedMemoryView()
        with pytest.raises(ValueError, match="the view is empty"):
            view.__dlpack__()


def test_logs_of_a_compilation_are_written():
    log = io.StringIO()
    compile_source('#warning "look here"\n__global__ void f() {}', "c++", logs=log)
    assert "look here" in log.getvalue()
