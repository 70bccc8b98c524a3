# SPDX-License-Identifier: Apache-2.0
"""CopyOptions, and copies of several buffers in one call."""

import copy
import pickle

import numpy as np
import pytest
from cuda.core import (
    LEGACY_DEFAULT_STREAM,
    PER_THREAD_DEFAULT_STREAM,
    CUDAError,
    DeviceMemoryResource,
    Host,
    LegacyPinnedMemoryResource,
)
from cuda.core.utils import CopyOptions, MemcpyOverlapMode, MemcpySrcAccessOrder, copy_batch

PINNED = LegacyPinnedMemoryResource()


@pytest.fixture
def capturing(stream):
    from cuda.bindings import driver

    mode = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
    assert driver.cuStreamBeginCapture(stream.handle, mode)[0] == 0
    yield stream
    error, graph = driver.cuStreamEndCapture(stream.handle)
    assert error == 0
    driver.cuGraphDestroy(graph)


class TestOptions:
    def test_texts_are_converted_to_members(self):
        options = CopyOptions("any", overlap_mode="prefer_overlap_with_compute")
        assert options.src_access_order is MemcpySrcAccessOrder.ANY
        assert options.overlap_mode is MemcpyOverlapMode.PREFER_OVERLAP_WITH_COMPUTE

    def test_they_are_values(self):
        assert CopyOptions() == CopyOptions("stream", None, None, "default")
        assert len({CopyOptions(), CopyOptions("stream"), CopyOptions("any")}) == 2
        assert pickle.loads(pickle.dumps(CopyOptions("any"))) == copy.copy(CopyOptions("any"))
        with pytest.raises(AttributeError):
            CopyOptions().overlap_mode = "default"

    def test_an_invalid_value_lists_the_accepted_values(self):
        with pytest.raises(ValueError, match="invalid src_access_order: 'x'.*'during_api_call'"):
            CopyOptions("x")
        with pytest.raises(ValueError, match="invalid overlap_mode: 3.*'default'"):
            CopyOptions(overlap_mode=3)

    def test_hints_are_checked_on_use(self, stream):
        with PINNED.allocate(4) as source, PINNED.allocate(4) as target:
            with pytest.raises(TypeError, match="location must be a Device, Host, or None"):
                source.copy_to(target, stream=stream, options=CopyOptions(src_location_hint=3))


class TestOneCopy:
    @pytest.mark.parametrize("order", list(MemcpySrcAccessOrder))
    def test_each_order_copies_the_bytes(self, device, stream, order):
        options = CopyOptions(order, Host(), device, "prefer_overlap_with_compute")
        with PINNED.allocate(64) as source, device.allocate(64, stream=stream) as memory:
            with PINNED.allocate(64) as two:
                np.frombuffer(source, np.uint8)[:] = np.arange(64)
                memory.copy_from(source, stream=stream, options=options)
                assert memory.copy_to(two, stream=stream, options=options) is two
                stream.sync()
                assert bytes(memoryview(two)) == bytes(range(64))

    def test_a_source_read_during_the_call_can_change_afterwards(self, device, stream):
        with PINNED.allocate(64) as source, device.allocate(64, stream=stream) as memory:
            np.frombuffer(source, np.uint8)[:] = 1
            memory.copy_from(source, stream=stream, options=CopyOptions("during_api_call"))
            np.frombuffer(source, np.uint8)[:] = 2
            content = bytearray(64)
            memory.copy_to(content, stream=stream)
            stream.sync()
            assert content == b"\1" * 64

    def test_arrays_are_copied_with_options(self, device, stream):
        result = np.zeros(8, np.uint8)
        with device.allocate(8, stream=stream) as memory:
            source = np.arange(8, dtype=np.uint8)
            memory.copy_from(source, stream=stream, options=CopyOptions("during_api_call"))
            memory.copy_to(result, stream=stream, options=CopyOptions())
            stream.sync()
        assert result.tolist() == list(range(8))

    @pytest.mark.parametrize("wrong", [3, {}, "stream"])
    def test_invalid_options_are_refused(self, stream, wrong):
        with PINNED.allocate(4) as source, PINNED.allocate(4) as target:
            with pytest.raises(TypeError, match="copy_to: options must be CopyOptions"):
                source.copy_to(target, stream=stream, options=wrong)
            with pytest.raises(TypeError, match="copy_from: options must be CopyOptions"):
                source.copy_from(target, stream=stream, options=wrong)

    def test_the_legacy_default_stream_is_refused_and_the_per_thread_one_is_not(self, device):
        with PINNED.allocate(4) as source, PINNED.allocate(4) as target:
            with pytest.raises(TypeError, match="legacy default stream"):
                source.copy_to(target, stream=LEGACY_DEFAULT_STREAM, options=CopyOptions())
            source.copy_to(target, stream=PER_THREAD_DEFAULT_STREAM, options=CopyOptions())
            PER_THREAD_DEFAULT_STREAM.sync()

    def test_a_capture_refuses_them_and_stays_valid(self, capturing):
        with PINNED.allocate(4) as source, PINNED.allocate(4) as target:
            with pytest.raises(TypeError, match="capturing stream"):
                source.copy_to(target, stream=capturing, options=CopyOptions())
            with pytest.raises(TypeError, match="capturing stream"):
                copy_batch(capturing, [source], [target])

    def test_different_sizes_are_refused_before_the_driver(self, stream):
        with PINNED.allocate(4) as source, PINNED.allocate(8) as target:
            with pytest.raises(ValueError, match=r"src=4, dst=8"):
                source.copy_to(target, stream=stream, options=CopyOptions())


class TestBatch:
    @pytest.fixture
    def buffers(self, device, stream):
        resource = DeviceMemoryResource(device)
        buffers = [resource.allocate(64, stream=stream) for _ in range(6)]
        for i, each in enumerate(buffers):
            each.fill(i, stream=stream)
        yield buffers
        for each in buffers:
            each.close()

    def contents(self, buffers, stream):
        contents = [bytearray(64) for _ in buffers]
        for each, to in zip(buffers, contents, strict=True):
            each.copy_to(to, stream=stream)
        stream.sync()
        return [set(each) for each in contents]

    def test_all_are_copied_in_one_call(self, buffers, stream, emulation):
        before = emulation.stats()["calls"].get("cuMemcpyBatchAsync", 0)
        copy_batch(stream, buffers[:3], buffers[3:])
        assert emulation.stats()["calls"]["cuMemcpyBatchAsync"] == before + 1
        assert self.contents(buffers[3:], stream) == [{0}, {1}, {2}]

    def test_each_copy_can_have_its_own_options(self, buffers, stream):
        options = [CopyOptions(), CopyOptions(), CopyOptions("any", dst_location_hint=Host())]
        copy_batch(stream, tuple(buffers[:3]), buffers[3:], options=options)
        assert self.contents(buffers[3:], stream) == [{0}, {1}, {2}]

    def test_zero_bytes_are_skipped(self, buffers, device, stream):
        with (
            device.allocate(0, stream=stream) as source,
            device.allocate(0, stream=stream) as target,
        ):
            copy_batch(stream, [source, buffers[1]], [target, buffers[4]])
            copy_batch(stream, [source], [target])
        assert self.contents(buffers[4:5], stream) == [{1}]

    @pytest.mark.parametrize(
        ("call", "kind", "text"),
        [
            (lambda b, s: copy_batch(s, b[0], [b[1]]), TypeError, "pass a sequence of Buffers"),
            (lambda b, s: copy_batch(s, [b[0]], b[1]), TypeError, "pass a sequence of Buffers"),
            (lambda b, s: copy_batch(s, 3, [b[1]]), TypeError, "a sequence of Buffers, got int"),
            (lambda b, s: copy_batch(s, "b", "b"), TypeError, "a sequence of Buffers, got str"),
            (lambda b, s: copy_batch(s, [3], [b[1]]), TypeError, "expected Buffer, got int"),
            (lambda b, s: copy_batch(None, b[:1], b[1:2]), TypeError,
             "Argument 'stream' has incorrect type"),
            (lambda b, s: copy_batch(LEGACY_DEFAULT_STREAM, b[:1], b[1:2]), TypeError,
             "legacy default stream"),
            (lambda b, s: copy_batch(s, b[:1], b[1:3]), ValueError,
             "srcs length 1 does not match dsts length 2"),
            (lambda b, s: copy_batch(s, [], []), ValueError, "copy_batch: empty buffers sequence"),
            (lambda b, s: copy_batch(s, b[:1], b[1:2], options=3), TypeError,
             "options must be CopyOptions or a sequence of CopyOptions, got int"),
            (lambda b, s: copy_batch(s, b[:1], b[1:2], options=[3]), TypeError, "got int"),
            (lambda b, s: copy_batch(s, b[:1], b[1:2], options=[]), ValueError,
             "options length 0 does not match buffers length 1"),
        ],
    )  # fmt: skip
    def test_invalid_calls_name_the_cause(self, buffers, stream, call, kind, text):
        with pytest.raises(kind, match=text):
            call(buffers, stream)

    def test_the_index_of_an_invalid_size_is_reported_and_nothing_is_copied(
        self, buffers, device, stream
    ):
        with device.allocate(32, stream=stream) as small:
            with pytest.raises(ValueError, match=r"mismatch at index 1 \(src=64, dst=32\)"):
                copy_batch(stream, buffers[:2], [buffers[5], small])
        assert self.contents(buffers[5:], stream) == [{5}]

    def test_a_closed_buffer_is_refused(self, buffers, device, stream):
        closed = device.allocate(64, stream=stream)
        closed.close()
        with pytest.raises(RuntimeError, match="Buffer has been closed"):
            copy_batch(stream, [buffers[0]], [closed])

    def test_a_refusal_of_the_driver_is_reported(self, buffers, stream, emulation):
        with (
            emulation.inject("cuMemcpyBatchAsync", error="CUDA_ERROR_UNKNOWN"),
            pytest.raises(CUDAError, match=r"\[cuMemcpyBatchAsync\]$"),
        ):
            copy_batch(stream, buffers[:1], buffers[1:2])
        copy_batch(stream, buffers[:1], buffers[1:2])
        assert self.contents(buffers[:2], stream) == [{0}, {0}]
