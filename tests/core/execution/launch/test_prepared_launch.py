# SPDX-License-Identifier: Apache-2.0
"""Kernel.prepare: the checks of launch, replacing arguments, retained objects."""

import ctypes
import gc
import struct
import warnings
import weakref
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from cuda.core import (
    Buffer,
    CUDAError,
    Device,
    DeviceMemoryResource,
    LaunchConfig,
    PoolMemoryResource,
    PreparedLaunch,
    Stream,
    launch,
)
from cuda.core.utils import StridedMemoryView

from ....threads import run_together

ONE = LaunchConfig(grid=1, block=1)


def number_at(buffer):
    return ctypes.c_uint32.from_address(buffer.handle).value


def test_it_can_be_launched_repeatedly(stream, store, pinned_block):
    prepared = store.prepare(ONE, pinned_block, 7)
    for _ in range(3):
        ctypes.memset(pinned_block.handle, 0, 4)
        assert prepared(stream) is None
        stream.sync()
        assert number_at(pinned_block) == 7


def test_the_stream_can_be_named_and_is_the_only_argument(stream, store, pinned_block):
    prepared = store.prepare(ONE, pinned_block, 7)
    prepared(stream=stream)
    for arguments, keywords in [((), {}), ((stream, 1), {}), ((), {"s": stream}), ((3,), {})]:
        with pytest.raises(TypeError):
            prepared(*arguments, **keywords)


def test_streams_are_checked_like_those_of_launch(device, stream, store, pinned_block):
    prepared = store.prepare(ONE, pinned_block, 7)
    with pytest.raises(TypeError, match="must not be None"):
        prepared(None)
    with pytest.warns(DeprecationWarning, match="Passing foreign stream objects"):
        prepared(SimpleNamespace(__cuda_stream__=lambda: (0, int(stream.handle))))
    closed = device.create_stream()
    closed.close()
    with pytest.raises(RuntimeError, match="Stream has been closed"):
        prepared(closed)


def test_a_stream_of_a_subclass_is_accepted(store, pinned_block):
    class Mine(Stream):
        pass

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        stream = Mine._init(device_id=0)
        store.prepare(ONE, pinned_block, 7)(stream)
        stream.sync()


def test_the_checks_are_those_of_launch(store, pinned_block):
    with pytest.raises(TypeError, match=r"store\(\) expected 2 arguments, got 1"):
        store.prepare(ONE, pinned_block)
    with pytest.raises(OverflowError, match=r"store\(\) argument 2 of 2"):
        store.prepare(ONE, pinned_block, 2**32)
    with pytest.raises(TypeError, match="unsupported type"):
        store.prepare(ONE, "text", 1)
    with pytest.raises(TypeError, match="config must be a LaunchConfig"):
        store.prepare(None, pinned_block, 1)


def test_a_dict_is_accepted_as_configuration(stream, store, pinned_block):
    prepared = store.prepare({"grid": 1, "block": 1}, pinned_block, 7)
    assert prepared.config == ONE


def test_the_class_cannot_be_called():
    with pytest.raises(RuntimeError, match="^PreparedLaunch objects cannot be instantiated"):
        PreparedLaunch()
    with pytest.raises(RuntimeError, match="PreparedLaunch was not initialized"):
        PreparedLaunch.__new__(PreparedLaunch)(None)


def test_its_repr_describes_it(store, pinned_block):
    prepared = store.prepare(ONE, pinned_block, 7)
    assert len(prepared) == 2
    assert prepared[0] is pinned_block and prepared[1] == 7 and prepared[-1] == 7
    assert prepared.kernel is store
    assert prepared.config == ONE
    assert repr(prepared) == "<PreparedLaunch of store with 2 arguments>"
    for index in (2, -3):
        with pytest.raises(IndexError):
            prepared[index]
    for name in ("kernel", "config"):
        with pytest.raises(AttributeError):
            setattr(prepared, name, None)


def test_the_configuration_is_copied(stream, load_kernel, pinned_block):
    count = load_kernel(
        ".param .u64 out",
        ".reg .u64 %rd<2>; .reg .u32 %r<2>; ld.param.u64 %rd1, [out];"
        "atom.global.add.u32 %r1, [%rd1], 1;",
    )
    config = LaunchConfig(grid=2, block=3)
    prepared = count.prepare(config, pinned_block)
    config.grid = 100
    prepared.config.block = 100
    ctypes.memset(pinned_block.handle, 0, 4)
    prepared(stream)
    stream.sync()
    assert number_at(pinned_block) == 6


def test_an_argument_can_be_replaced(stream, store, pinned_block):
    prepared = store.prepare(ONE, pinned_block, 7)
    for index, value in ((1, 8), (-1, np.uint32(9)), (1, ctypes.c_int32(10)), (1, True)):
        prepared[index] = value
        assert prepared[index] is value
        prepared(stream)
        stream.sync()
        assert number_at(pinned_block) == int(getattr(value, "value", value))


def test_a_refused_value_keeps_the_old_one(stream, store, pinned_block):
    prepared = store.prepare(ONE, pinned_block, 7)
    closed = Buffer.from_handle(0x1000, 4)
    closed.close()
    for value, error in [
        ("text", TypeError),
        (2**32, OverflowError),
        (np.float64(1), TypeError),
        (np.uint64(2**40), OverflowError),
        (closed, RuntimeError),
        (pinned_block, TypeError),
    ]:
        with pytest.raises(error):
            prepared[1] = value
        assert prepared[1] == 7
    for index in (2, -3):
        with pytest.raises(IndexError, match="out of range for a prepared launch with 2"):
            prepared[index] = 1
    prepared(stream)
    stream.sync()
    assert number_at(pinned_block) == 7


def test_large_values_can_be_replaced(stream, load_kernel, pinned_block):
    kernel = load_kernel(
        ".param .u64 out, .param .align 4 .b8 block[400]",
        ".reg .u64 %rd<2>; .reg .u32 %r<2>; ld.param.u64 %rd1, [out];"
        "ld.param.u32 %r1, [block+396]; st.global.u32 [%rd1], %r1;",
    )
    block = (ctypes.c_uint32 * 100)(*range(100))
    prepared = kernel.prepare(ONE, pinned_block, block)
    for last in (99, 1000, 2000):
        block[99] = last
        prepared[1] = block
        prepared(stream)
        stream.sync()
        assert number_at(pinned_block) == last


def test_values_are_read_when_they_are_packed(stream, store, pinned_block):
    value = ctypes.c_uint32(5)
    prepared = store.prepare(ONE, pinned_block, value)
    value.value = 6
    prepared(stream)
    stream.sync()
    assert number_at(pinned_block) == 5


def test_no_arguments(stream, load_kernel):
    prepared = load_kernel().prepare(ONE)
    assert len(prepared) == 0
    prepared(stream)


def test_arguments_are_retained_until_they_are_replaced(store):
    class Holder:
        def __cuda_kernel_arg__(self):
            return 0x4000

    held = Holder()
    alive = weakref.ref(held)
    prepared = store.prepare(ONE, held, 1)
    del held
    gc.collect()
    assert alive() is not None
    prepared[0] = None
    gc.collect()
    assert alive() is None


def as_buffer(buffer):
    return buffer


def as_view(buffer):
    return StridedMemoryView.from_buffer(buffer, (buffer.size,), dtype=np.uint8)


def as_view_of_a_view(buffer):
    return as_view(buffer).view(dtype=np.int8)


FORMS = [as_buffer, as_view, as_view_of_a_view]


@pytest.mark.parametrize("form", FORMS)
def test_a_closed_buffer_is_refused_until_it_is_replaced(device, stream, store, form, pinned_block):
    buffer = DeviceMemoryResource(device).allocate(64, stream=stream)
    prepared = store.prepare(ONE, form(buffer), 1)
    prepared(stream)
    buffer.close()
    for _ in range(2):
        message = r"store\(\) argument 1 of 2 .*Buffer has been closed.*prepared\[0\] = buffer"
        with pytest.raises(RuntimeError, match=message):
            prepared(stream)
    prepared[0] = pinned_block
    prepared(stream)
    stream.sync()
    assert number_at(pinned_block) == 1


def test_a_replacement_is_checked_in_its_turn(device, stream, store):
    resource = DeviceMemoryResource(device)
    buffers = [resource.allocate(64, stream=stream) for _ in range(3)]
    prepared = store.prepare(ONE, None, 1)
    for buffer in buffers:
        prepared[0] = buffer
    buffers[0].close()
    prepared(stream)
    with pytest.raises(TypeError):
        prepared[0] = "text"
    buffers[2].close()
    with pytest.raises(RuntimeError, match="argument 1 of 2"):
        prepared(stream)
    prepared[0] = 0x4000
    buffers[1].close()
    stream.sync()


@pytest.mark.parametrize("form", FORMS)
def test_memory_of_a_closed_buffer_is_retained_for_launches_from_c(device, stream, store, form):
    resource = PoolMemoryResource(device)
    buffer = resource.allocate(64, stream=stream)
    prepared = store.prepare(ONE, form(buffer), 1)
    buffer.close()
    assert resource.statistics()["allocation_count.current"] == 1
    prepared[0] = None
    assert resource.statistics()["allocation_count.current"] == 0


def test_an_argument_that_closes_another_one_is_noticed(device, stream, load_kernel):
    class Closing:
        def __cuda_kernel_arg__(self):
            buffer.close()
            return 1

    kernel = load_kernel(".param .u64 a, .param .u64 b", "ret;")
    buffer = DeviceMemoryResource(device).allocate(64, stream=stream)
    prepared = kernel.prepare(ONE, buffer, Closing())
    with pytest.raises(RuntimeError, match="argument 1 of 2"):
        prepared(stream)


def test_the_kernel_stays_loaded(stream, load_store, pinned_block):
    prepared = load_store().prepare(ONE, pinned_block, 3)
    gc.collect()
    prepared(stream)
    stream.sync()
    assert number_at(pinned_block) == 3


def test_a_reference_cycle_is_collected(store):
    class Cyclic:
        def __cuda_kernel_arg__(self):
            return 0x4000

    value = Cyclic()
    alive = weakref.ref(value)
    value.prepared = store.prepare(ONE, value, 1)
    del value
    gc.collect()
    assert alive() is None


def test_shared_memory_is_enabled_at_the_launch(device, stream, load_kernel):
    most = device.properties.max_shared_memory_per_block_optin
    kernel = load_kernel(name="shared", module=".extern .shared .align 16 .b8 memory[];")
    kernel.prepare(LaunchConfig(grid=1, block=1, shmem_size=most))(stream)
    too_much = kernel.prepare(LaunchConfig(grid=1, block=1, shmem_size=most + 1))
    with pytest.raises(ValueError, match="exceeds"):
        too_much(stream)


def test_driver_errors_name_the_kernel(stream, store, pinned_block):
    prepared = store.prepare(LaunchConfig(grid=1, block=4096), pinned_block, 77)
    with pytest.raises(CUDAError, match="cuLaunchKernelEx") as caught:
        prepared(stream)
    note = caught.value.__notes__[-1]  # the driver's log precedes it
    assert note.startswith("launching store(") and "77) at " in note


def test_many_threads_launch_concurrently(device, load_kernel, pinned_block):
    count = load_kernel(
        ".param .u64 out",
        ".reg .u64 %rd<2>; .reg .u32 %r<2>; ld.param.u64 %rd1, [out];"
        "atom.global.add.u32 %r1, [%rd1], 1;",
    )
    prepared = count.prepare(ONE, pinned_block)
    ctypes.memset(pinned_block.handle, 0, 4)

    def work():
        Device(0).set_current()
        with Device(0).create_stream() as stream:
            for _ in range(50):
                prepared(stream)
            stream.sync()

    run_together(*[work] * 6)
    assert number_at(pinned_block) == 300


def test_launch_and_prepared_launch_agree(stream, load_kernel, pinned_block):
    kernel = load_kernel(
        ".param .u64 out, .param .f64 value",
        ".reg .u64 %rd<2>; .reg .f64 %fd<2>; ld.param.u64 %rd1, [out];"
        "ld.param.f64 %fd1, [value]; st.global.f64 [%rd1], %fd1;",
    )

    def bytes_after(run):
        ctypes.memset(pinned_block.handle, 0, 8)
        run()
        stream.sync()
        return ctypes.string_at(pinned_block.handle, 8)

    for value in (2.5, 3, np.float64(4.5)):
        arguments = (pinned_block, value)
        prepared = kernel.prepare(ONE, *arguments)
        expected = struct.pack("<d", float(value))
        assert bytes_after(partial(launch, stream, ONE, kernel, *arguments)) == expected
        assert bytes_after(partial(prepared, stream)) == expected


@pytest.mark.parametrize(
    "options",
    [
        {"is_cooperative": True},
        {"programmatic_stream_serialization": True},
        {"cluster": 2},
        {"is_cooperative": True, "programmatic_stream_serialization": True},
    ],
    ids=lambda options: " and ".join(options),
)
def test_attributes_of_the_configuration_apply_to_each_launch(stream, store, pinned_block, options):
    """The prepared launch stores the attributes itself, independent of the configuration."""
    try:
        config = LaunchConfig(grid=1, block=32, **options)
    except CUDAError as error:
        pytest.skip(f"the device cannot: {error}")
    prepared = store.prepare(config, pinned_block, 7)
    launch(stream, config, store, pinned_block, 1)  # the device supports it
    del config
    configs = [LaunchConfig(grid=1, block=1, shmem_size=size) for size in range(64)]
    ctypes.memset(pinned_block.handle, 0, 4)
    prepared(stream)
    prepared(stream)
    stream.sync()
    assert number_at(pinned_block) == 7 and len(configs) == 64


def test_the_attributes_are_copied_with_the_configuration(stream, store, pinned_block):
    config = LaunchConfig(grid=1, block=1, is_cooperative=True)
    prepared = store.prepare(config, pinned_block, 7)
    config.is_cooperative = False
    config.programmatic_stream_serialization = True
    builder = stream.create_graph_builder().begin_building()
    prepared(stream)
    (node,) = builder.end_building().graph_definition.nodes()
    assert node.config.is_cooperative
    assert not node.config.programmatic_stream_serialization
    builder.close()


def test_replaced_values_of_unknown_size_do_not_leak(run_python):
    """A driver before 12.4 does not report the size of a parameter."""
    run_python(
        """
import ctypes, sys
sys.path.insert(0, "")
from tests.peak_memory import peak_kib
from cuda.bindings import _low
_low._answer_as_driver_of(12020)
from cuda.core import Device, LaunchConfig, ObjectCode
Device(0).set_current()
ptx = b".version 8.0\\n.target sm_75\\n.address_size 64\\n.visible .entry f(" \\
      b".param .align 8 .b8 value[4000])\\n{ ret; }\\n"
kernel = ObjectCode.from_ptx(ptx).get_kernel("f")
class Large(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_char * 4000)]
class Larger(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_char * 8000)]
values = Large(), Larger()
prepared = kernel.prepare(LaunchConfig(grid=1, block=1), values[0])
def replace(count):
    for i in range(count):
        prepared[0] = values[i % 2]
    return peak_kib()
before = replace(1000)
assert replace(20_000) - before < 8_000
""",
        HALFWARP_BACKEND="emulator",
        CUDA_PYTHON_DISABLE_MAJOR_VERSION_WARNING="1",
    )
