# SPDX-License-Identifier: Apache-2.0
"""Arguments whose conversion closes an object that the call uses: the call reports it as closed."""

import ctypes
import sys

import numpy as np
import pytest
from cuda.core import CUDAError, EventOptions, LaunchConfig, launch

ONE = LaunchConfig(grid=1, block=1)
SIZE = 64


@pytest.fixture
def memory(device, stream):
    with device.allocate(SIZE, stream=stream) as buffer:
        yield buffer


@pytest.fixture
def victim(device):
    """A stream that is closed during a call."""
    with device.create_stream() as stream:
        yield stream


class Closer:
    """Closes an object during its own conversion."""

    def __init__(self, victim):
        self.victim = victim

    def close(self, result):
        self.victim.close()
        return result


class Index(Closer):
    def __index__(self):
        return self.close(1)


class KernelArgument(Closer):
    def __cuda_kernel_arg__(self):
        return self.close(1)


class Bytes(Closer):
    """Exports its bytes from Python 3.12 on."""

    def __buffer__(self, flags):
        return memoryview(self.close(b"\1\0\0\0"))


class Array(Closer):
    """A host array that is exported through DLPack."""

    def __init__(self, victim):
        super().__init__(victim)
        self.content = np.zeros(SIZE, np.uint8)

    def __dlpack_device__(self):
        return self.content.__dlpack_device__()

    def __dlpack__(self, **options):
        return self.close(self.content.__dlpack__())


class ForeignStream(Closer):
    def __init__(self, victim, other):
        super().__init__(victim)
        self.other = other

    def __cuda_stream__(self):
        return self.close(self.other.__cuda_stream__())


class Options(EventOptions):
    """Closes the stream when the last option is read."""

    victim = None

    @property
    def ipc_enabled(self):
        if self.victim is not None:
            self.victim.close()
        return False

    @ipc_enabled.setter
    def ipc_enabled(self, value):
        pass


needs_exports = pytest.mark.skipif(
    sys.version_info < (3, 12), reason="Python classes cannot export a buffer before 3.12"
)


def expect_closed(name, call, *arguments, **keywords):
    with pytest.raises(RuntimeError, match=f"{name} has been closed") as caught:
        call(*arguments, **keywords)
    assert not isinstance(caught.value, CUDAError)


class TestStream:
    def test_launch(self, victim, memory, store):
        expect_closed("Stream", launch, victim, ONE, store, memory, KernelArgument(victim))

    @pytest.mark.parametrize("argument", [Index, pytest.param(Bytes, marks=needs_exports)])
    def test_fill(self, victim, memory, argument):
        expect_closed("Stream", memory.fill, argument(victim), stream=victim)

    def test_copies(self, victim, memory):
        expect_closed("Stream", memory.copy_from, Array(victim), stream=victim)

    def test_a_copy_to_an_array(self, victim, memory):
        expect_closed("Stream", memory.copy_to, Array(victim), stream=victim)

    def test_allocation(self, victim, device):
        expect_closed("Stream", device.memory_resource.allocate, Index(victim), stream=victim)

    def test_record(self, victim):
        options = Options()
        options.victim = victim
        expect_closed("Stream", victim.record, options=options)

    def test_wait(self, victim, stream):
        expect_closed("Stream", victim.wait, ForeignStream(victim, stream))

    @needs_exports
    def test_host_call(self, victim):
        function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda data: None)
        expect_closed("Stream", victim.launch_host, function, user_data=Bytes(victim))


class TestBuffer:
    def test_launch(self, stream, memory, store):
        expect_closed("Buffer", launch, stream, ONE, store, memory, KernelArgument(memory))

    def test_fill(self, stream, memory):
        expect_closed("Buffer", memory.fill, Index(memory), stream=stream)

    def test_copy_from_an_array(self, stream, memory):
        expect_closed("Buffer", memory.copy_from, Array(memory), stream=stream)

    def test_copy_to_an_array(self, stream, memory):
        expect_closed("Buffer", memory.copy_to, Array(memory), stream=stream)


class TestConfig:
    def test_the_launch_uses_the_final_configuration(self, stream, memory, store):
        config = LaunchConfig(grid=1, block=1)

        class Changes:
            def __cuda_kernel_arg__(self):
                config.block = 2
                return 7

        memory.fill(0, stream=stream)
        launch(stream, config, store, memory, Changes())
        result = np.zeros(SIZE, np.uint8)
        memory.copy_to(result, stream=stream)
        stream.sync()
        assert result[0] == 7
