# SPDX-License-Identifier: Apache-2.0
"""What the tests of graphs share: numbers that host and device see, and a kernel that adds."""

import contextlib
import ctypes
import gc

import pytest
from cuda.bindings import driver
from cuda.core import CUDAError, LaunchConfig, LegacyPinnedMemoryResource, launch
from cuda.core.graph import GraphDefinition

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


def id_of(what, function):
    """Its number; None where the driver is older than the function, which the error says."""
    (_, version) = driver.cuDriverGetVersion()
    if version >= 13010:
        return what.id
    with pytest.raises(RuntimeError, match=f"{function} is not in .* needs a driver of CUDA 13.1"):
        what.id  # noqa: B018
    return None


@pytest.fixture
def add(load_kernel):
    """A kernel `add(out, value)` of one thread that adds a 32-bit number."""
    return load_kernel(".param .u64 out, .param .u32 value", ADD, name="add")


class Numbers:
    """Sixteen 32-bit numbers, all 0 at first, in one Buffer."""

    def __init__(self):
        self.buffer = LegacyPinnedMemoryResource().allocate(64)
        self.values = (ctypes.c_uint32 * 16).from_address(int(self.buffer.handle))
        ctypes.memset(int(self.buffer.handle), 0, 64)

    def __getitem__(self, place):
        return self.values[place]


@pytest.fixture
def numbers(device):
    numbers = Numbers()
    yield numbers
    numbers.buffer.close()


@pytest.fixture
def graph(device):
    """An empty definition; at the end its nodes go, with all that they keep."""
    graph = GraphDefinition()
    yield graph
    for node in graph.nodes():
        with contextlib.suppress(CUDAError):  # allocations stay
            node.destroy()


@pytest.fixture
def captured(device, add, numbers):
    """An ended builder whose graph adds 1 to the first number."""
    builder = device.create_graph_builder().begin_building()
    launch(builder, ONE, add, numbers.buffer, 1)
    yield builder.end_building()
    builder.close()


@pytest.fixture
def is_gone():
    """Whether an object went, after all that the driver gave back on its own threads."""

    def look(reference):
        for _ in range(200):
            gc.collect()
            if reference() is None:
                return True
            ctypes.pythonapi.Py_MakePendingCalls()
            WAIT.wait(0.01)
        return False

    return look


class _Wait:
    """Gives other threads a moment: destructors of user objects run on one of the driver's."""

    @staticmethod
    def wait(seconds):
        import threading

        threading.Event().wait(seconds)


WAIT = _Wait()
