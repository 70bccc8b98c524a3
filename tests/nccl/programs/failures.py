# SPDX-License-Identifier: Apache-2.0
"""A failure of each driver call of NCCL's functions, as cases with four ranks of one process."""

import ctypes as c
import functools

import api
import numpy as np
from cases import FLOAT, N, all_reduce, cases_of, check_sum, expect_error, fails, filled, run_cases
from cuda.core import emulation
from ranks import Rank

CUDA_ERROR = 1
INJECTED = " returned 2: this failure was injected by a fault rule"


def failing_calls(function):
    """Call a function until it succeeds; its first driver call fails first, then its second.

    Return the names of the driver calls, from the errors; None for a call that need not succeed.
    """
    names = []
    for nth in range(1, 20):
        with emulation.inject("any", nth=nth, optional=True) as rule:
            try:
                function()
                names.append(None)
            except api.NcclError as error:
                assert error.code == CUDA_ERROR and error.text.endswith(INJECTED), error
                names.append(error.text.removesuffix(INJECTED))
        if not rule.hits:
            return names[:-1]
    raise AssertionError("the function never succeeded")


def single():
    """Return a rank of its own communicator, which completes its operations alone."""
    rank = Rank(0)
    rank.comm = api.init_all(1)[0]
    return rank


def case_operations(ranks):
    """The last driver call restores the context; its failure does not matter."""
    first, second = single(), api.stream()
    address = first.upload(np.ones(N, np.float32))
    begin, end = ["cuCtxPushCurrent", "cuStreamIsCapturing"], ["cuEventRecord", None]
    order = ["cuEventRecord", "cuStreamWaitEvent"]

    def reduce(stream=first.stream):
        api.call("ncclAllReduce", address, address, N, FLOAT, api.SUM, first.comm, stream)

    def reduce_in_two_streams():
        with api.group():
            reduce()
            reduce(second)

    assert failing_calls(reduce) == [*begin, *end]
    in_other_stream = functools.partial(reduce, second)
    assert failing_calls(in_other_stream) == [*begin, "cuStreamWaitEvent", "cuEventRecord"]
    reduce()
    assert failing_calls(reduce_in_two_streams) == [*begin, *order, *order, None]
    finalize = functools.partial(api.call, "ncclCommFinalize", first.comm)
    assert failing_calls(finalize) == ["cuCtxPushCurrent", "cuEventSynchronize", None]
    api.call("ncclCommDestroy", first.comm)
    assert (first.download(address, np.zeros(N, np.float32)) == 1).all()


def case_invalid_capture(ranks):
    """The driver refuses operations of a stream whose capture is invalid."""
    rank = single()
    address, graph = rank.upload(np.ones(N, np.float32)), c.c_void_p()
    requests = {
        "ncclAllReduce": (address, address, N, FLOAT, api.SUM),
        "ncclSend": (address, N, FLOAT, 0),
        "ncclRecv": (address, N, FLOAT, 0),
    }
    api.cuda("cuStreamBeginCapture_v2", rank.stream, 2)
    assert api.driver.cuStreamSynchronize(rank.stream) == 900
    for name, arguments in requests.items():
        other = "ncclRecv" if name == "ncclSend" else "ncclSend"
        api.call("ncclGroupStart")
        api.call(name, *arguments, rank.comm, rank.stream)
        if name != "ncclAllReduce":
            api.call(other, *arguments, rank.comm, rank.stream)
        text = fails(CUDA_ERROR, api.call, "ncclGroupEnd")
        assert text.startswith(f"{name} returned 901: "), text
    assert api.driver.cuStreamEndCapture(rank.stream, c.byref(graph)) == 901
    api.call("ncclCommDestroy", rank.comm)


def case_communicators(ranks):
    """A failed initialization leaves no handle."""
    value, comm = api.unique_id(), c.c_void_p()
    ranks[0].select()

    def init_all():
        comm.value = 7
        try:
            api.call("ncclCommInitAll", c.byref(comm), 1, None)
        except api.NcclError:
            assert comm.value in (7, None)
            raise
        api.call("ncclCommDestroy", comm)

    def init_rank():
        comm.value = 7
        try:
            api.call("ncclCommInitRank", c.byref(comm), 1, value, 0)
        except api.NcclError:
            assert comm.value is None
            raise
        api.call("ncclCommDestroy", comm)

    calls = ["cuDevicePrimaryCtxRetain", "cuCtxPushCurrent", "cuEventCreate", *[None] * 5]
    assert failing_calls(init_all) == ["cuInit", "cuDeviceGetCount", *calls]
    assert failing_calls(init_rank) == ["cuInit", None, *calls]


def case_memory(ranks):
    address = c.c_void_p()
    ranks[0].select()

    def allocate():
        api.call("ncclMemAlloc", c.byref(address), c.c_size_t(64))

    assert failing_calls(allocate) == ["cuInit", "cuMemAlloc"]
    free = functools.partial(api.call, "ncclMemFree", address)
    with emulation.inject("cuMemFree"):
        fails(CUDA_ERROR, free)
    free()
    get = functools.partial(api.call, "ncclGetUniqueId", c.byref(api.UniqueId()))
    assert failing_calls(get) == ["cuInit"]


def case_end_after_an_error(ranks):
    """Each later call of the communicator returns its error, with the same text."""
    data = filled(ranks)
    with api.group():
        for each, address in zip(ranks, data, strict=True):
            all_reduce(each, address, count=N - each.number % 2)
    expect_error(ranks, api.INVALID_USAGE, "count 100,", "count 99,")
    child, excluded = c.c_void_p(), (c.c_int * 1)(1)
    for each, address in zip(ranks, data, strict=True):
        text = api.last_error(each.comm)
        assert fails(api.INVALID_USAGE, all_reduce, each, address) == text
        assert fails(api.INVALID_USAGE, api.call, "ncclCommFinalize", each.comm) == text
        split = "ncclCommSplit", each.comm, 0, 0, c.byref(child), None
        assert fails(api.INVALID_USAGE, api.call, *split) == text
    shrink = "ncclCommShrink", ranks[0].comm, excluded, 1, c.byref(child), None
    assert fails(api.INVALID_USAGE, api.call, *shrink, 0) == text


def nonblocking(value, ranks, rank):
    """Start an initialization that does not wait; return the result and the communicator."""
    comm, options = c.c_void_p(7), api.config(blocking=0)
    init = api.nccl.ncclCommInitRankConfig
    return init(c.byref(comm), ranks, value, rank, c.byref(options)), comm


def case_initializations_that_differ(ranks):
    """The second of two ranks passes another number of ranks, or the rank of the first one."""
    texts = {
        (3, 1): "this rank passed 3 ranks, and another rank of the same communicator 2",
        (2, 0): "two processes or threads joined as rank 0",
    }
    for (total, rank), expected in texts.items():
        value = api.unique_id()
        code, first = nonblocking(value, 2, 0)
        assert code == api.async_error(first) == api.IN_PROGRESS
        code, second = nonblocking(value, total, rank)
        assert (code, second.value, api.last_error()) == (api.INVALID_USAGE, None, expected)
        assert api.async_error(first) == api.IN_PROGRESS
        api.call("ncclCommAbort", first)


def case_error_after_an_initialization_began(ranks):
    """Each call of the communicator returns the error, with its text."""
    address, number, value = filled(ranks)[0], c.c_int(7), api.unique_id()
    ranks[2].select()
    code, first = nonblocking(value, 2, 0)
    assert code == api.async_error(first) == api.IN_PROGRESS
    code, second = nonblocking(value, 2, 1)
    assert (code, second.value) == (api.INVALID_USAGE, None)
    expected = (
        "ranks 0 and 1 use the same device; select one device for each rank, of "
        "`halfwarp emulate exec --devices 2`"
    )
    assert api.last_error() == expected
    assert api.async_error(first) == api.INVALID_USAGE
    assert api.last_error(first) == expected
    request = "ncclAllReduce", address, address, N, FLOAT, 0, first, ranks[0].stream
    assert fails(api.INVALID_USAGE, api.call, *request) == expected
    for name in ("ncclCommCount", "ncclCommCuDevice", "ncclCommUserRank"):
        fails(api.INVALID_USAGE, api.call, name, first, c.byref(number))
        assert number.value == 7
    fails(api.INVALID_USAGE, api.call, "ncclCommFinalize", first)
    api.call("ncclCommDestroy", first)


def case_aborted_by_a_shrink(ranks):
    child, excluded = c.c_void_p(), (c.c_int * 3)(1, 2, 3)
    comm, address = ranks[0].comm, filled(ranks)[0]
    api.call("ncclCommShrink", comm, excluded, 3, c.byref(child), None, 1)
    assert fails(api.INVALID_USAGE, all_reduce, ranks[0], address) == "the communicator was aborted"
    all_reduce(ranks[0], address, child)
    check_sum(ranks[:1], [address], 1)
    api.call("ncclCommFinalize", comm)
    api.call("ncclCommDestroy", child)


def case_capture_of_two_streams(ranks):
    """Calls after a capture do not wait for the events of the captured ones."""
    first, second = single(), api.stream()
    address = first.upload(np.ones(N, np.float32))
    event, graph, executable = c.c_void_p(), c.c_void_p(), c.c_void_p()
    api.cuda("cuEventCreate", c.byref(event), 0)
    all_reduce(first, address)
    api.cuda("cuStreamBeginCapture_v2", first.stream, 2)
    api.cuda("cuEventRecord", event, first.stream)
    api.cuda("cuStreamWaitEvent", second, event, 0)
    with api.group():
        for stream in (first.stream, second):
            api.call("ncclAllReduce", address, address, N, FLOAT, api.SUM, first.comm, stream)
    api.cuda("cuEventRecord", event, second)
    api.cuda("cuStreamWaitEvent", first.stream, event, 0)
    api.cuda("cuStreamEndCapture", first.stream, c.byref(graph))
    api.cuda("cuGraphInstantiateWithFlags", c.byref(executable), graph, c.c_uint64())
    api.cuda("cuGraphLaunch", executable, first.stream)
    api.call("ncclAllReduce", address, address, N, FLOAT, api.SUM, first.comm, second)
    api.synchronize(second)
    check_sum([first], [address], 1)
    api.call("ncclCommDestroy", first.comm)


if __name__ == "__main__":
    run_cases(cases_of(globals()))
