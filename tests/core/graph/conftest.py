# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the graph tests: numbers that host and device access, and a kernel that adds."""

import contextlib
import ctypes
import gc
import time

import pytest
from cuda.bindings import driver
from cuda.core import CUDAError, LaunchConfig, LegacyPinnedMemoryResource, launch
from cuda.core.graph import GraphDefinition

from ...threads import all_collected

ADD = """
    .reg .u64 %rd<2>;
    .reg .u32 %r<3>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [value];
    ld.global.u32 %r2, [%rd1];
    add.u32 %r2, %r2, %r1;
    st.global.u32 [%rd1], %r2;
"""
ONE = LaunchConfig(grid=1, block=1)


def id_of(node, function):
    """Return the node's id; on an older driver, check the error and return None."""
    (_, version) = driver.cuDriverGetVersion()
    if version >= 13010:
        return node.id
    with pytest.raises(RuntimeError, match=f"{function} is not in .* needs a driver of CUDA 13.1"):
        node.id  # noqa: B018
    return None


@pytest.fixture
def node_ids():
    """Skip a test of node ids on a driver before CUDA 13.1."""
    if driver.cuDriverGetVersion()[1] < 13010:
        pytest.skip("the driver has no ids of nodes")


@pytest.fixture
def add(load_kernel):
    """A kernel `add(out, value)` of one thread that adds a 32-bit number."""
    return load_kernel(".param .u64 out, .param .u32 value", ADD, name="add")


class Numbers:
    """Sixteen 32-bit numbers in one Buffer, initialized to 0."""

    def __init__(self):
        self.buffer = LegacyPinnedMemoryResource().allocate(64)
        self.values = (ctypes.c_uint32 * 16).from_address(int(self.buffer.handle))
        ctypes.memset(int(self.buffer.handle), 0, 64)

    def __getitem__(self, index):
        return self.values[index]


@pytest.fixture
def numbers(device):
    numbers = Numbers()
    yield numbers
    numbers.buffer.close()


@pytest.fixture
def graph(device):
    """An empty definition; its nodes and their references are destroyed at the end."""
    graph = GraphDefinition()
    yield graph
    for node in graph.nodes():
        with contextlib.suppress(CUDAError):  # allocation nodes cannot be destroyed
            node.destroy()


@pytest.fixture
def captured(device, add, numbers):
    """A builder whose capture has ended and whose graph adds 1 to the first number."""
    builder = device.create_graph_builder().begin_building()
    launch(builder, ONE, add, numbers.buffer, 1)
    yield builder.end_building()
    builder.close()


@pytest.fixture
def is_collected():
    """Return a check whether an object is destroyed once the driver's threads have released it."""
    return lambda reference: all_collected([reference])


class _Cycle:
    """Garbage whose finalizer lets other threads run, and leaves new garbage."""

    is_wanted = True

    def __init__(self):
        self.me = self

    def __del__(self):
        time.sleep(0)
        if _Cycle.is_wanted:
            _Cycle()


@pytest.fixture
def switching_collector():
    """Make each allocation of the interpreter a point where other threads may run."""
    threshold = gc.get_threshold()
    _Cycle.is_wanted = True
    gc.set_threshold(1)
    _Cycle()
    yield
    _Cycle.is_wanted = False
    gc.set_threshold(*threshold)
