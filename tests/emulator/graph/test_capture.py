# SPDX-License-Identifier: Apache-2.0
"""Stream capture: calls that add nodes, and calls that are refused with a code."""

import ctypes
import threading

import pytest
from cuda.bindings import driver
from cuda.core.emulation import library

from tests.emulator.graph.conftest import check

R = driver.CUresult
Mode = driver.CUstreamCaptureMode
GLOBAL = Mode.CU_STREAM_CAPTURE_MODE_GLOBAL
LOCAL = Mode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
RELAXED = Mode.CU_STREAM_CAPTURE_MODE_RELAXED
Status = driver.CUstreamCaptureStatus
UNSUPPORTED = R.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
INVALIDATED = R.CUDA_ERROR_STREAM_CAPTURE_INVALIDATED


def status(stream):
    return check(*driver.cuStreamIsCapturing(stream))


def end_invalid(*streams):
    """End invalidated captures; the streams are ordinary ones afterwards."""
    for stream in streams:
        assert status(stream) == Status.CU_STREAM_CAPTURE_STATUS_INVALIDATED
        assert driver.cuStreamEndCapture(stream)[0] == INVALIDATED
        assert status(stream) == Status.CU_STREAM_CAPTURE_STATUS_NONE
    for stream in streams:
        check(*driver.cuStreamSynchronize(stream))


def end_whole(stream):
    assert status(stream) == Status.CU_STREAM_CAPTURE_STATUS_ACTIVE
    check(*driver.cuGraphDestroy(check(*driver.cuStreamEndCapture(stream))))


def read(address, size):
    data = bytearray(size)
    check(*driver.cuMemcpyDtoH(data, address, size))
    return bytes(data)


def launch(graph, stream):
    executable = check(*driver.cuGraphInstantiate(graph, 0))
    check(*driver.cuGraphLaunch(executable, stream))
    check(*driver.cuStreamSynchronize(stream))
    check(*driver.cuGraphExecDestroy(executable))


def test_work_becomes_nodes_in_a_row_and_runs_at_the_launch_only(streams, memory):
    stream = streams[0]
    check(*driver.cuStreamBeginCapture(stream, GLOBAL))
    check(*driver.cuMemsetD8Async(memory, 7, 16, stream))
    check(*driver.cuMemcpyDtoDAsync(memory + 64, memory, 16, stream))
    graph = check(*driver.cuStreamEndCapture(stream))
    assert read(memory, 80) == bytes(80)
    nodes, count = check(*driver.cuGraphGetNodes(graph, 8))
    assert count == 2
    types = [check(*driver.cuGraphNodeGetType(node)) for node in nodes[:2]]
    Type = driver.CUgraphNodeType
    assert types == [Type.CU_GRAPH_NODE_TYPE_MEMSET, Type.CU_GRAPH_NODE_TYPE_MEMCPY]
    from_, to, _, edges = check(*driver.cuGraphGetEdges(graph, 8))
    assert edges == 1
    assert (int(from_[0]), int(to[0])) == (int(nodes[0]), int(nodes[1]))
    launch(graph, stream)
    assert read(memory, 80) == b"\7" * 16 + bytes(48) + b"\7" * 16
    check(*driver.cuGraphDestroy(graph))


def test_a_launch_that_overlaps_the_kernel_before_it_has_a_programmatic_edge(
    streams, kernels, memory
):
    config, attribute = driver.CUlaunchConfig(), driver.CUlaunchAttribute()
    for extent in ("gridDimX", "gridDimY", "gridDimZ", "blockDimX", "blockDimY", "blockDimZ"):
        setattr(config, extent, 1)
    attribute.id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
    attribute.value.programmaticStreamSerializationAllowed = 1
    config.attrs, config.numAttrs, config.hStream = [attribute], 1, streams[0]
    arguments = (memory, 1), (ctypes.c_uint64, ctypes.c_uint32)
    check(*driver.cuStreamBeginCapture(streams[0], GLOBAL))
    for name in ("store", "increase"):
        check(*driver.cuLaunchKernelEx(config, kernels.function(name), arguments, 0))
    graph = check(*driver.cuStreamEndCapture(streams[0]))
    *_, (edge,), count = check(*driver.cuGraphGetEdges(graph, 1))
    kind = driver.CUgraphDependencyType.CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC
    assert (count, edge.from_port, edge.to_port, edge.type) == (1, 1, 0, kind)
    launch(graph, streams[0])
    assert read(memory, 4) == b"\2\0\0\0"
    check(*driver.cuGraphDestroy(graph))


def test_streams_fork_and_join_over_events(streams, events, memory):
    first, second, _ = streams
    forked, joined, _ = events
    check(*driver.cuStreamBeginCapture(first, GLOBAL))
    check(*driver.cuMemsetD8Async(memory, 1, 4, first))
    check(*driver.cuEventRecord(forked, first))
    check(*driver.cuStreamWaitEvent(second, forked, 0))
    assert status(second) == Status.CU_STREAM_CAPTURE_STATUS_ACTIVE
    check(*driver.cuMemcpyDtoDAsync(memory + 4, memory, 4, second))
    check(*driver.cuMemcpyDtoDAsync(memory + 8, memory, 4, first))
    check(*driver.cuEventRecord(joined, second))
    check(*driver.cuStreamWaitEvent(first, joined, 0))
    check(*driver.cuMemcpyDtoDAsync(memory + 12, memory + 4, 4, first))
    graph = check(*driver.cuStreamEndCapture(first))
    assert status(second) == Status.CU_STREAM_CAPTURE_STATUS_NONE
    assert check(*driver.cuGraphGetEdges(graph, 8))[3] == 4
    launch(graph, first)
    assert read(memory, 16) == b"\1" * 16
    check(*driver.cuGraphDestroy(graph))


def test_info_names_the_graph_and_the_next_dependencies(streams, memory):
    stream = streams[0]
    assert driver.cuStreamGetCaptureInfo(stream)[1] == Status.CU_STREAM_CAPTURE_STATUS_NONE
    check(*driver.cuStreamBeginCapture(stream, GLOBAL))
    check(*driver.cuMemsetD8Async(memory, 7, 16, stream))
    _, state, first, graph, dependencies, _, count = driver.cuStreamGetCaptureInfo(stream)
    assert state == Status.CU_STREAM_CAPTURE_STATUS_ACTIVE
    assert count == 1
    assert int(dependencies[0]) == int(check(*driver.cuGraphGetNodes(graph, 4))[0][0])
    flag = driver.CUstreamUpdateCaptureDependencies_flags.CU_STREAM_SET_CAPTURE_DEPENDENCIES
    check(*driver.cuStreamUpdateCaptureDependencies(stream, [], None, 0, flag))
    check(*driver.cuMemsetD8Async(memory, 8, 16, stream))
    ended = check(*driver.cuStreamEndCapture(stream))
    assert int(ended) == int(graph)
    assert check(*driver.cuGraphGetRootNodes(ended, 4))[1] == 2
    check(*driver.cuGraphDestroy(ended))
    check(*driver.cuStreamBeginCapture(stream, GLOBAL))
    assert driver.cuStreamGetCaptureInfo(stream)[2] != first
    end_whole(stream)


def test_a_capture_extends_an_existing_graph(streams, memory):
    stream, graph = streams[0], check(*driver.cuGraphCreate(0))
    node = check(*driver.cuGraphAddEmptyNode(graph, [], 0))
    check(*driver.cuStreamBeginCaptureToGraph(stream, graph, [node], None, 1, GLOBAL))
    check(*driver.cuMemsetD8Async(memory, 7, 16, stream))
    assert int(check(*driver.cuStreamEndCapture(stream))) == int(graph)
    assert int(check(*driver.cuGraphGetEdges(graph, 4))[0][0]) == int(node)
    check(*driver.cuGraphDestroy(graph))


def test_a_capture_to_a_graph_of_the_program_may_end_without_an_output(streams):
    """Only C programs can pass a null pointer."""
    end = library.load().cuStreamEndCapture
    stream, graph = streams[0], check(*driver.cuGraphCreate(0))
    check(*driver.cuStreamBeginCaptureToGraph(stream, graph, [], None, 0, GLOBAL))
    assert end(ctypes.c_void_p(int(stream)), None) == 0
    assert status(stream) == Status.CU_STREAM_CAPTURE_STATUS_NONE
    check(*driver.cuGraphDestroy(graph))
    check(*driver.cuStreamBeginCapture(stream, GLOBAL))
    assert end(ctypes.c_void_p(int(stream)), None) == R.CUDA_ERROR_INVALID_VALUE
    end_whole(stream)


UNSAFE = {
    "cuMemAlloc": lambda memory: driver.cuMemAlloc(16),
    "cuMemAllocManaged": lambda memory: driver.cuMemAllocManaged(16, 1),
    "cuMemAllocHost": lambda memory: driver.cuMemAllocHost(16),
    "cuMemFree": lambda memory: driver.cuMemFree(memory),
    "cuMemFreeAsync elsewhere": lambda memory: driver.cuMemFreeAsync(memory, 0),
}


@pytest.mark.parametrize("mode", [GLOBAL, LOCAL], ids=["global", "thread-local"])
@pytest.mark.parametrize("call", UNSAFE.values(), ids=UNSAFE)
def test_unsafe_calls_are_refused_and_invalidate_the_capture(streams, memory, call, mode):
    check(*driver.cuStreamBeginCapture(streams[0], mode))
    assert call(memory)[0] == UNSUPPORTED
    end_invalid(streams[0])


def test_relaxed_mode_lets_a_thread_make_unsafe_calls(streams):
    check(*driver.cuStreamBeginCapture(streams[0], GLOBAL))
    before = check(*driver.cuThreadExchangeStreamCaptureMode(RELAXED))
    assert before == GLOBAL
    check(*driver.cuMemFree(check(*driver.cuMemAlloc(16))))
    check(*driver.cuMemFreeHost(check(*driver.cuMemAllocHost(16))))
    assert check(*driver.cuThreadExchangeStreamCaptureMode(before)) == RELAXED
    end_whole(streams[0])


def in_another_thread(function):
    result = []

    def run():
        from cuda.core import Device

        Device(0).set_current()
        result.append(function())

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return result[0]


def test_only_a_global_capture_forbids_other_threads_unsafe_calls(streams):
    def allocate():
        code, address = driver.cuMemAlloc(16)
        if code == 0:
            check(*driver.cuMemFree(address))
        return code

    for mode in (LOCAL, RELAXED):
        check(*driver.cuStreamBeginCapture(streams[0], mode))
        assert in_another_thread(allocate) == 0
        end_whole(streams[0])
    check(*driver.cuStreamBeginCapture(streams[0], GLOBAL))
    assert in_another_thread(allocate) == UNSUPPORTED
    end_invalid(streams[0])


def test_another_thread_may_end_relaxed_captures_only(streams):
    check(*driver.cuStreamBeginCapture(streams[0], LOCAL))
    code = in_another_thread(lambda: driver.cuStreamEndCapture(streams[0])[0])
    assert code == R.CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD
    assert status(streams[0]) == Status.CU_STREAM_CAPTURE_STATUS_NONE
    check(*driver.cuStreamBeginCapture(streams[0], RELAXED))
    in_another_thread(lambda: end_whole(streams[0]))


def test_synchronizing_or_querying_a_capturing_stream_invalidates_the_capture(streams):
    for call in (driver.cuStreamSynchronize, driver.cuStreamQuery):
        check(*driver.cuStreamBeginCapture(streams[0], RELAXED))
        assert call(streams[0])[0] == UNSUPPORTED
        end_invalid(streams[0])
    check(*driver.cuStreamBeginCapture(streams[0], RELAXED))
    assert driver.cuCtxSynchronize()[0] == UNSUPPORTED
    end_invalid(streams[0])


def test_a_captured_event_can_be_waited_for_by_streams_alone(streams, events):
    for call in (driver.cuEventQuery, driver.cuEventSynchronize):
        check(*driver.cuStreamBeginCapture(streams[0], RELAXED))
        check(*driver.cuEventRecord(events[0], streams[0]))
        assert call(events[0])[0] == R.CUDA_ERROR_CAPTURED_EVENT
        end_invalid(streams[0])
    check(*driver.cuEventRecord(events[0], streams[1]))
    check(*driver.cuEventSynchronize(events[0]))


def test_the_legacy_stream_may_not_wait_for_a_capture(memory):
    blocking = check(*driver.cuStreamCreate(0))
    check(*driver.cuStreamBeginCapture(blocking, RELAXED))
    implicit = R.CUDA_ERROR_STREAM_CAPTURE_IMPLICIT
    assert driver.cuStreamIsCapturing(0)[0] == implicit
    assert status(blocking) == Status.CU_STREAM_CAPTURE_STATUS_ACTIVE
    assert driver.cuMemsetD8Async(memory, 0, 4, 0)[0] == implicit
    end_invalid(blocking)
    check(*driver.cuStreamBeginCapture(blocking, RELAXED))
    assert driver.cuMemcpyDtoH(bytearray(4), memory, 4)[0] == implicit
    end_invalid(blocking)
    check(*driver.cuStreamDestroy(blocking))


def test_the_legacy_stream_works_beside_streams_it_does_not_synchronize_with(streams, memory):
    check(*driver.cuStreamBeginCapture(streams[0], GLOBAL))
    check(*driver.cuMemsetD8Async(memory, 0, 4, 0))
    end_whole(streams[0])


def test_unjoined_work_is_reported(streams, events, memory):
    check(*driver.cuStreamBeginCapture(streams[0], GLOBAL))
    check(*driver.cuEventRecord(events[0], streams[0]))
    check(*driver.cuStreamWaitEvent(streams[1], events[0], 0))
    check(*driver.cuMemsetD8Async(memory, 7, 16, streams[1]))
    unjoined = R.CUDA_ERROR_STREAM_CAPTURE_UNJOINED
    assert driver.cuStreamEndCapture(streams[0])[0] == unjoined
    assert status(streams[1]) == Status.CU_STREAM_CAPTURE_STATUS_NONE


@pytest.mark.parametrize("is_joined", [True, False], ids=["joined", "unjoined"])
def test_a_joined_stream_may_be_destroyed_before_the_end(streams, events, memory, is_joined):
    helper = check(*driver.cuStreamCreate(driver.CUstream_flags.CU_STREAM_NON_BLOCKING))
    check(*driver.cuStreamBeginCapture(streams[0], GLOBAL))
    check(*driver.cuEventRecord(events[0], streams[0]))
    check(*driver.cuStreamWaitEvent(helper, events[0], 0))
    check(*driver.cuMemsetD8Async(memory, 7, 16, helper))
    check(*driver.cuEventRecord(events[1], helper))
    if is_joined:
        check(*driver.cuStreamWaitEvent(streams[0], events[1], 0))
    check(*driver.cuStreamDestroy(helper))
    if is_joined:
        end_whole(streams[0])
    else:
        unjoined = R.CUDA_ERROR_STREAM_CAPTURE_UNJOINED
        assert driver.cuStreamEndCapture(streams[0])[0] == unjoined


def test_destroying_the_origin_stream_ends_the_capture(streams, events, memory):
    origin = check(*driver.cuStreamCreate(driver.CUstream_flags.CU_STREAM_NON_BLOCKING))
    check(*driver.cuStreamBeginCapture(origin, GLOBAL))
    check(*driver.cuEventRecord(events[0], origin))
    check(*driver.cuStreamWaitEvent(streams[1], events[0], 0))
    check(*driver.cuStreamDestroy(origin))
    check(*driver.cuMemsetD8Async(memory, 7, 16, streams[1]))
    check(*driver.cuMemFree(check(*driver.cuMemAlloc(16))))


def test_a_capture_ends_in_its_origin_stream(streams, events):
    check(*driver.cuStreamBeginCapture(streams[0], GLOBAL))
    check(*driver.cuEventRecord(events[0], streams[0]))
    check(*driver.cuStreamWaitEvent(streams[1], events[0], 0))
    unmatched = R.CUDA_ERROR_STREAM_CAPTURE_UNMATCHED
    assert driver.cuStreamEndCapture(streams[1])[0] == unmatched
    end_invalid(streams[0])


def test_separate_captures_cannot_be_joined(streams, events, memory):
    check(*driver.cuStreamBeginCapture(streams[0], GLOBAL))
    check(*driver.cuStreamBeginCapture(streams[1], GLOBAL))
    check(*driver.cuEventRecord(events[0], streams[0]))
    merge = R.CUDA_ERROR_STREAM_CAPTURE_MERGE
    assert driver.cuStreamWaitEvent(streams[1], events[0], 0)[0] == merge
    end_invalid(streams[0], streams[1])


def test_waiting_for_a_stream_beside_a_global_capture_is_refused(streams):
    check(*driver.cuStreamBeginCapture(streams[0], GLOBAL))
    assert driver.cuStreamSynchronize(streams[1])[0] == UNSUPPORTED
    end_invalid(streams[0])


def test_a_capture_may_not_wait_for_uncaptured_work(streams, events):
    check(*driver.cuEventRecord(events[0], streams[1]))
    check(*driver.cuStreamBeginCapture(streams[0], GLOBAL))
    isolation = R.CUDA_ERROR_STREAM_CAPTURE_ISOLATION
    assert driver.cuStreamWaitEvent(streams[0], events[0], 0)[0] == isolation
    end_invalid(streams[0])


def test_mismatched_begins_and_ends_are_refused(streams):
    assert driver.cuStreamBeginCapture(1, GLOBAL)[0] == UNSUPPORTED  # CU_STREAM_LEGACY
    assert driver.cuStreamEndCapture(streams[0])[0] == R.CUDA_ERROR_ILLEGAL_STATE
    check(*driver.cuStreamBeginCapture(streams[0], GLOBAL))
    code = driver.cuStreamBeginCapture(streams[0], GLOBAL)[0]
    assert code == R.CUDA_ERROR_ILLEGAL_STATE
    end_whole(streams[0])


def test_a_capture_frees_graph_memory_only(streams, memory):
    stream = streams[0]
    check(*driver.cuStreamBeginCapture(stream, GLOBAL))
    own = check(*driver.cuMemAllocAsync(64, stream))
    check(*driver.cuMemsetD8Async(own, 5, 64, stream))
    check(*driver.cuMemcpyDtoDAsync(memory, own, 64, stream))
    assert driver.cuMemFreeAsync(memory, stream)[0] == R.CUDA_ERROR_INVALID_VALUE
    check(*driver.cuMemFreeAsync(own, stream))
    assert driver.cuMemFreeAsync(own, stream)[0] == R.CUDA_ERROR_INVALID_VALUE
    graph = check(*driver.cuStreamEndCapture(stream))
    assert check(*driver.cuGraphGetNodes(graph, 8))[1] == 4
    launch(graph, stream)
    assert read(memory, 64) == b"\5" * 64
    check(*driver.cuGraphDestroy(graph))
