# SPDX-License-Identifier: Apache-2.0
"""Cases with four ranks of one process. Prints the name of each, and "passed" or the error."""

import sys
import traceback

import api
import numpy as np
from ranks import Rank, join

N = 100
FLOAT = api.NUMBER_OF["float32"]
INT = api.NUMBER_OF["int32"]


def filled(ranks, count=N, dtype=np.float32):
    """Return buffers that hold the number of the rank plus one."""
    return [each.upload(np.full(count, each.number + 1, dtype)) for each in ranks]


def all_reduce(each, address, comm=None, count=N, kind=FLOAT, operation=api.SUM):
    target = comm or each.comm
    api.call("ncclAllReduce", address, address, count, kind, operation, target, each.stream)


def fails(code, function, *arguments):
    """Return the text of the error that a call must return."""
    try:
        function(*arguments)
    except api.NcclError as error:
        assert error.code == code, error
        return error.text
    raise AssertionError("the call succeeded")


def synchronize_fails(ranks):
    """Return the codes that the streams return."""
    codes = []
    for each in ranks:
        each.select()
        codes.append(api.driver.cuStreamSynchronize(each.stream))
    return codes


def expect_error(ranks, code, *words):
    """Check that all streams fail, and that all communicators have the error with the words."""
    assert all(synchronize_fails(ranks)), "a stream did not fail"
    for each in ranks:
        assert api.async_error(each.comm) == code, api.async_error(each.comm)
        text = api.last_error(each.comm)
        assert all(word in text for word in words), text


def check_sum(ranks, addresses, expected, dtype=np.float32):
    for each, address in zip(ranks, addresses, strict=True):
        actual = each.download(address, np.zeros(N, dtype))
        assert (actual == expected).all(), actual


def case_queries(ranks):
    value = api.c.c_int()
    for each in ranks:
        for name, expected in (("Count", 4), ("CuDevice", each.number), ("UserRank", each.number)):
            api.call(f"ncclComm{name}", each.comm, api.c.byref(value))
            assert value.value == expected
    api.call("ncclGetVersion", api.c.byref(value))
    assert value.value == 23203
    assert api.nccl.ncclGetErrorString(0) == b"no error"
    assert api.nccl.pncclGetVersion(api.c.byref(value)) == 0


def case_other_collective(ranks):
    data = filled(ranks)
    with api.group():
        for each, address in zip(ranks[:3], data, strict=False):
            all_reduce(each, address)
        last = ranks[3]
        api.call("ncclBroadcast", data[3], data[3], N, FLOAT, 0, last.comm, last.stream)
    words = "ncclAllReduce(count 100, ncclFloat32, ncclSum)", "ncclBroadcast(count 100, ncclFloat32"
    expect_error(ranks, api.INVALID_USAGE, "rank 3", *words)
    fails(api.INVALID_USAGE, all_reduce, ranks[0], data[0])


def mismatch(ranks, *words, **different):
    data = filled(ranks)
    with api.group():
        for each, address in zip(ranks, data, strict=True):
            all_reduce(each, address, **(different if each.number == 2 else {}))
    expect_error(ranks, api.INVALID_USAGE, *words)


def case_other_count(ranks):
    mismatch(ranks, "count 100,", "count 99,", count=99)


def case_other_type(ranks):
    mismatch(ranks, "ncclFloat32", "ncclInt32", kind=INT)


def case_other_operation(ranks):
    mismatch(ranks, "ncclSum", "ncclMax", operation=api.MAX)


def case_other_root(ranks):
    data = filled(ranks)
    with api.group():
        for each, address in zip(ranks, data, strict=True):
            root = 1 if each.number == 2 else 0
            api.call("ncclReduce", address, address, N, FLOAT, 0, root, each.comm, each.stream)
    expect_error(ranks, api.INVALID_USAGE, "root 0", "root 1")


def case_collective_and_send(ranks):
    data = filled(ranks)
    with api.group():
        for each, address in zip(ranks[:3], data, strict=False):
            all_reduce(each, address)
        api.call("ncclSend", data[3], N, FLOAT, 0, ranks[3].comm, ranks[3].stream)
    expect_error(ranks, api.INVALID_USAGE, "ncclSend(count 100, ncclFloat32, to rank 0)", "wait")


def case_missing_rank(ranks):
    data = filled(ranks)
    with api.group():
        for each, address in zip(ranks[:3], data, strict=False):
            all_reduce(each, address)
    synchronize_fails(ranks[:3])
    text = api.last_error(ranks[0].comm)
    assert api.async_error(ranks[0].comm) == api.TIMEOUT
    assert "nccl_limit" in text and "in no operation, after 0 completed ones" in text, text


def case_sends_without_group(ranks):
    a, b = ranks[:2]
    data = filled(ranks)
    api.call("ncclSend", data[0], N, FLOAT, 1, a.comm, a.stream)
    api.call("ncclSend", data[1], N, FLOAT, 0, b.comm, b.stream)
    assert all(synchronize_fails((a, b)))
    assert api.async_error(a.comm) == api.INVALID_USAGE
    text = api.last_error(b.comm)
    assert "to rank 1" in text and "to rank 0" in text, text


def case_send_of_other_count(ranks):
    a, b = ranks[:2]
    data = filled(ranks)
    api.call("ncclSend", data[0], N, FLOAT, 1, a.comm, a.stream)
    api.call("ncclRecv", data[1], N - 1, FLOAT, 0, b.comm, b.stream)
    synchronize_fails((a, b))
    text = api.last_error(a.comm)
    assert "ncclSend(count 100" in text and "ncclRecv(count 99" in text, text


def case_send_to_itself(ranks):
    data = filled(ranks)
    first = ranks[0]
    arguments = "ncclSend", data[0], N, FLOAT, 0, first.comm, first.stream
    assert "itself" in fails(api.INVALID_USAGE, api.call, *arguments)
    target = first.upload(np.zeros(N, np.float32))
    with api.group():
        api.call("ncclSend", data[0], N, FLOAT, 0, first.comm, first.stream)
        api.call("ncclRecv", target, N, FLOAT, 0, first.comm, first.stream)
    check_sum(ranks[:1], [target], 1)


def case_exchange(ranks):
    """Every rank sends to and receives from every other in one group, in several chunks."""
    count, kinds = 30_000, np.float64
    sent = [each.upload(np.arange(count * 4, dtype=kinds) + each.number) for each in ranks]
    received = [each.upload(np.zeros(count * 4, kinds)) for each in ranks]
    with api.group():
        for each, source, target in zip(ranks, sent, received, strict=True):
            for peer in range(4):
                offset = peer * count * 8
                api.call("ncclSend", source + offset, count, 8, peer, each.comm, each.stream)
                api.call("ncclRecv", target + offset, count, 8, peer, each.comm, each.stream)
    for each, target in zip(ranks, received, strict=True):
        actual = each.download(target, np.zeros((4, count), kinds))
        own = np.arange(each.number * count, (each.number + 1) * count, dtype=kinds)
        assert all((actual[peer] == own + peer).all() for peer in range(4))


def case_several_calls_in_a_group(ranks):
    """Collectives of a group run in order; nested groups are one."""
    data = filled(ranks)
    with api.group():
        for each, address in zip(ranks, data, strict=True):
            with api.group():
                all_reduce(each, address)
            all_reduce(each, address)
    check_sum(ranks, data, 40)


def case_several_streams(ranks):
    """Operations of one communicator run in the order of the calls, whatever their streams are."""
    data = filled(ranks)
    streams = []
    for each in ranks:
        each.select()
        streams.append(api.stream())
    for turn in range(6):
        with api.group():
            for each, other, address in zip(ranks, streams, data, strict=True):
                target = each.stream if turn % 2 else other
                api.call("ncclAllReduce", address, address, N, FLOAT, api.MAX, each.comm, target)
                each.select()
    for other in streams:
        api.synchronize(other)
    check_sum(ranks, data, 4)


def case_streams_of_a_group(ranks):
    """A group may use several streams of a communicator: it runs after and before their work."""
    data, others, streams = filled(ranks), filled(ranks), []
    for each in ranks:
        each.select()
        streams.append(api.stream())
    with api.group():
        for each, stream, first, second in zip(ranks, streams, data, others, strict=True):
            all_reduce(each, first)
            api.call("ncclAllReduce", second, second, N, FLOAT, api.SUM, each.comm, stream)
    check_sum(ranks, data, 10)
    for stream in streams:
        api.synchronize(stream)
    check_sum(ranks, others, 10)


def case_error_in_a_group(ranks):
    data = filled(ranks)
    api.call("ncclGroupStart")
    for each, address in zip(ranks, data, strict=True):
        all_reduce(each, address)
    fails(api.INVALID_ARGUMENT, all_reduce, ranks[0], data[0], None, N, 99)
    assert api.nccl.ncclGroupEnd() == api.INVALID_ARGUMENT
    for each, address in zip(ranks, data, strict=True):
        assert (each.download(address, np.zeros(N, np.float32)) == each.number + 1).all()
    assert "ncclGroupStart" in fails(api.INVALID_USAGE, api.call, "ncclGroupEnd")


def case_simulated_group(ranks):
    class Simulation(api.c.Structure):
        _fields_ = (
            ("size", api.c.c_size_t),
            ("magic", api.c.c_uint),
            ("version", api.c.c_uint),
            ("time", api.c.c_float),
        )

    data = filled(ranks)
    result = Simulation(24, 0x74685283, 23203, -1)
    api.call("ncclGroupStart")
    all_reduce(ranks[0], data[0])
    api.call("ncclGroupSimulateEnd", api.c.byref(result))
    assert result.time > 0
    assert (ranks[0].download(data[0], np.zeros(N, np.float32)) == 1).all()


def case_created_operations(ranks):
    data, handles = filled(ranks), []
    for each in ranks:
        handle, factor = api.c.c_int(), api.c.c_float(2.5)
        each.select()
        scalar = factor if each.number % 2 else api.buffer(np.float32(2.5).reshape(1))
        pointer = api.c.byref(factor) if each.number % 2 else api.c.c_void_p(scalar)
        residence = each.number % 2
        api.call(
            "ncclRedOpCreatePreMulSum", api.c.byref(handle), pointer, FLOAT, residence, each.comm
        )
        handles.append(handle.value)
    with api.group():
        for each, address, handle in zip(ranks, data, handles, strict=True):
            all_reduce(each, address, operation=handle)
    check_sum(ranks, data, 25)
    text = fails(api.INVALID_ARGUMENT, all_reduce, ranks[0], data[0], None, N, INT, handles[0])
    assert "ncclFloat32" in text, text
    for each, handle in zip(ranks, handles, strict=True):
        api.call("ncclRedOpDestroy", handle, each.comm)
        for wrong in (handle, handle + 1, 0):  # destroyed, never created, built in
            fails(api.INVALID_ARGUMENT, api.call, "ncclRedOpDestroy", wrong, each.comm)
    fails(api.INVALID_ARGUMENT, all_reduce, ranks[0], data[0], None, N, FLOAT, handles[0])


def split(ranks, colors, keys):
    result = [api.c.c_void_p() for _ in ranks]
    with api.group():
        for each, child, color, key in zip(ranks, result, colors, keys, strict=True):
            api.call("ncclCommSplit", each.comm, color, key, api.c.byref(child), None)
    return result


def case_split(ranks):
    children = split(ranks, [0, 1, 0, -1], [5, 0, 1, 0])
    assert not children[3]
    position = api.c.c_int()
    numbers = []
    for child in children[:3]:
        api.call("ncclCommUserRank", child, api.c.byref(position))
        numbers.append(position.value)
    assert numbers == [1, 0, 0], numbers  # ordered by key
    data = filled(ranks)
    with api.group():
        for index in (0, 2):
            all_reduce(ranks[index], data[index], children[index])
    check_sum([ranks[0], ranks[2]], [data[0], data[2]], 4)
    second = split(ranks, [7] * 4, [3, 2, 1, 0])  # the parent is still usable
    with api.group():
        for each, address, child in zip(ranks, data, second, strict=True):
            all_reduce(each, address, child)
    check_sum(ranks, data, 4 + 2 + 4 + 4)
    for child in (*children[:3], *second):
        api.call("ncclCommDestroy", child)


def case_shrink(ranks):
    excluded = (api.c.c_int * 1)(1)
    remaining = [ranks[0], ranks[2], ranks[3]]
    children = [api.c.c_void_p() for _ in remaining]
    with api.group():
        for each, child in zip(remaining, children, strict=True):
            api.call("ncclCommShrink", each.comm, excluded, 1, api.c.byref(child), None, 0)
    data = filled(remaining)
    with api.group():
        for each, address, child in zip(remaining, data, children, strict=True):
            all_reduce(each, address, child)
    check_sum(remaining, data, 8)


def case_grow(ranks):
    parents = split(ranks, [0, 0, -1, -1], [0] * 4)
    value = api.UniqueId()
    api.call("ncclCommGetUniqueId", parents[0], api.c.byref(value))
    grown = [api.c.c_void_p() for _ in ranks]
    with api.group():
        for each, parent, child in zip(ranks, parents, grown, strict=True):
            each.select()
            rank = -1 if parent else each.number
            identity = None if each.number == 1 else api.c.byref(value)
            parent = parent if parent else None
            api.call("ncclCommGrow", parent, 4, identity, rank, api.c.byref(child), None)
    data = filled(ranks)
    with api.group():
        for each, address, child in zip(ranks, data, grown, strict=True):
            all_reduce(each, address, child)
    check_sum(ranks, data, 10)


def case_abort(ranks):
    data = filled(ranks)
    with api.group():
        for each, address in zip(ranks[:3], data, strict=False):
            all_reduce(each, address)
    api.call("ncclCommAbort", ranks[3].comm)
    assert all(synchronize_fails(ranks[:3]))
    assert api.async_error(ranks[1].comm) == api.REMOTE_ERROR
    assert "has aborted the communicator" in api.last_error(ranks[1].comm)
    fails(api.INVALID_ARGUMENT, all_reduce, ranks[3], data[3])
    ranks[3].comm = None


def case_abort_of_a_waiting_rank(ranks):
    first, address = ranks[0], filled(ranks)[0]
    all_reduce(first, address)
    api.call("ncclCommAbort", first.comm)
    assert synchronize_fails([first]) == [0]
    first.comm = None


def case_revoke(ranks):
    data = filled(ranks)
    all_reduce(ranks[0], data[0])
    for each in ranks:
        api.call("ncclCommRevoke", each.comm, 0)
    assert synchronize_fails(ranks) == [0] * 4
    assert "revoked" in fails(api.INVALID_USAGE, all_reduce, ranks[0], data[0])


def case_destroyed_rank(ranks):
    api.call("ncclCommDestroy", ranks[3].comm)
    data = filled(ranks)
    with api.group():
        for each, address in zip(ranks[:3], data, strict=False):
            all_reduce(each, address)
    synchronize_fails(ranks[:3])
    assert api.async_error(ranks[0].comm) == api.REMOTE_ERROR
    assert "has destroyed the communicator" in api.last_error(ranks[0].comm)
    ranks[3].comm = None


def fault_of_a_buffer(ranks):
    """The fault breaks the context of one rank; the others fail too."""
    data = filled(ranks)
    try:
        with api.group():
            for each, address in zip(ranks, data, strict=True):
                all_reduce(each, address, count=10**6 if each.number == 1 else 10)
    except api.NcclError as error:
        assert error.code == 1, error  # the operation ran before the group ended
    assert all(synchronize_fails(ranks[1:2]))
    assert "the stream of rank 1 failed" in api.last_error(ranks[1].comm)


def case_overlap(ranks):
    data = ranks[0].upload(np.zeros(4 * N, np.float32))
    first = ranks[0]
    for shift, call in ((4, "ncclAllGather"), (4, "ncclAlltoAll"), (0, "ncclAlltoAll")):
        arguments = call, data + shift, data, N, FLOAT, first.comm, first.stream
        assert "overlap" in fails(api.INVALID_ARGUMENT, api.call, *arguments)


def case_captured(ranks):
    """A graph runs its collectives at each launch."""
    data, graphs = filled(ranks), []
    api.call("ncclGroupStart")
    for each, address in zip(ranks, data, strict=True):
        each.select()
        api.cuda("cuStreamBeginCapture_v2", each.stream, 2)
        all_reduce(each, address)
    api.call("ncclGroupEnd")
    for each in ranks:
        graph, executable = api.c.c_void_p(), api.c.c_void_p()
        each.select()
        api.cuda("cuStreamEndCapture", each.stream, api.c.byref(graph))
        api.cuda("cuGraphInstantiateWithFlags", api.c.byref(executable), graph, api.c.c_uint64())
        graphs.append(executable)
    for _ in range(2):
        for each, executable in zip(ranks, graphs, strict=True):
            each.select()
            api.cuda("cuGraphLaunch", executable, each.stream)
    check_sum(ranks, data, 40)


def case_memory(ranks):
    address, handle = api.c.c_void_p(), api.c.c_void_p()
    ranks[0].select()
    api.call("ncclMemAlloc", api.c.byref(address), api.c.c_size_t(4096))
    comm = ranks[0].comm
    size = api.c.c_size_t(4096)
    api.call("ncclCommRegister", comm, address, size, api.c.byref(handle))
    api.call("ncclCommDeregister", comm, handle)
    fails(api.INVALID_ARGUMENT, api.call, "ncclCommDeregister", comm, handle)
    api.call("ncclCommWindowRegister", comm, address, size, api.c.byref(handle), 0)
    user = api.c.c_void_p()
    api.call("ncclWinGetUserPtr", comm, handle, api.c.byref(user))
    assert user.value == address.value
    api.call("ncclCommWindowDeregister", comm, handle)
    api.call("ncclMemFree", address)


def case_refused(ranks):
    text = fails(api.INVALID_USAGE, api.call, "ncclPutSignal", None)
    assert text.startswith("ncclPutSignal is not emulated"), text
    text = fails(api.INVALID_USAGE, api.call, "ncclDevCommCreate", ranks[0].comm)
    assert "ncclDevCommCreate" in text


def case_calls_with_a_configuration(ranks):
    """Each collective has a form with a configuration, which does the same."""
    c, size = api.c, api.c.c_size_t
    valid, small = ((size * 2)(16 - less, 23203 << 32 | 0xCAFEBEEF) for less in (0, 1))
    forged = (size * 2)(16, 23203 << 32 | 0xCAFEBEE0)
    count = size(N)
    kinds = {
        "AllReduce": ((count, FLOAT, api.SUM), 10), "Reduce": ((count, FLOAT, api.SUM, 0), 10),
        "Broadcast": ((count, FLOAT, 2), 3), "Scatter": ((count, FLOAT, 2), 3),
        "ReduceScatter": ((count, FLOAT, api.SUM), 10), "Gather": ((count, FLOAT, 0), 1),
        "AllGather": ((count, FLOAT), 1), "AlltoAll": ((count, FLOAT), 1),
    }  # fmt: skip
    for name, (arguments, expected) in kinds.items():
        sources, targets = filled(ranks, 4 * N), filled(ranks, 4 * N)
        function = f"nccl{name}Config"

        def submit(each, options, name=function, arguments=arguments, buffers=(sources, targets)):
            source, target = (c.c_void_p(buffer[each.number]) for buffer in buffers)
            api.call(name, source, target, *arguments, each.comm, each.stream, options)

        for options in (small, forged):
            assert "NCCL_COLLCONFIG_INITIALIZER" in fails(4, submit, ranks[0], options)
        for options in (valid, None):
            with api.group():
                for each in ranks:
                    submit(each, options)
            actual = ranks[0].download(targets[0], np.zeros(N, np.float32))
            assert (actual == expected).all(), (name, actual)


def case_broadcast_in_place(ranks):
    data = filled(ranks)
    with api.group():
        for each, address in zip(ranks, data, strict=True):
            api.call("ncclBcast", address, N, FLOAT, 2, each.comm, each.stream)
    check_sum(ranks, data, 3)


def case_parameters_and_statistics(ranks):
    c, comm = api.c, ranks[0].comm
    value = c.c_uint64(9)
    for statistic, code in ((0, 0), (3, 0), (4, 4), (-1, 4)):
        assert api.nccl.ncclCommMemStats(comm, statistic, c.byref(value)) == code, statistic
    assert value.value == 0
    assert api.nccl.ncclCommMemStats(comm, 0, None) == api.INVALID_ARGUMENT
    assert api.nccl.ncclCommMemStats(None, 0, c.byref(value)) == api.INVALID_ARGUMENT
    out, text, length = c.c_void_p(7), c.c_char_p(b"x"), c.c_int(7)
    assert "no parameter MODE" in fails(4, api.call, "ncclParamBind", c.byref(out), b"MODE")
    get = "ncclParamGetParameter", b"MODE", c.byref(text), c.byref(length)
    assert "no parameter MODE" in fails(4, api.call, *get)
    assert (out.value, text.value, length.value) == (None, None, 0)
    table, length = c.POINTER(c.c_char_p)(), c.c_int(7)
    api.call("ncclParamGetAllParameterKeys", c.byref(table), c.byref(length))
    assert (table[0], length.value) == (None, 0)
    api.call("ncclSetEncryption", c.byref(api.config(0)))
    for wrong in (c.byref(api.config(1)), None):
        fails(api.INVALID_USAGE, api.call, "ncclSetEncryption", wrong)
    window = c.c_void_p()
    fails(4, api.call, "ncclWinGetUserPtr", comm, c.c_void_p(0x10), c.byref(window))
    address = c.c_void_p(filled(ranks)[0])
    for memory, size in ((None, 64), (address, 0)):
        register = "ncclCommRegister", comm, memory, c.c_size_t(size), c.byref(window)
        assert "the buffer is empty" in fails(4, api.call, *register)


def case_refused_communicators(ranks):
    """Arguments of split, shrink and grow beyond their limits."""
    c, comm, child = api.c, ranks[0].comm, api.c.c_void_p()

    def shrink(*excluded, count=None, flags=0):
        count = len(excluded) if count is None else count
        fails(4, api.call, "ncclCommShrink", comm, (c.c_int * 4)(*excluded), count,
              c.byref(child), None, flags)  # fmt: skip

    shrink(4)
    shrink(-1)
    shrink(0)  # the calling rank
    shrink(1, count=0)
    shrink(1, flags=2)
    shrink(1, flags=-1)
    fails(4, api.call, "ncclCommSplit", comm, -2, 0, c.byref(child), None)
    fails(4, api.call, "ncclCommGrow", comm, 4, None, -1, c.byref(child), None)
    fails(4, api.call, "ncclCommGrow", None, 4, None, 0, c.byref(child), None)
    value = api.unique_id()
    for options in (api.config(2), api.Config(8, 0xCAFEBEEF, 23203, 0), api.Config(64, 1, 2, 0)):
        init = "ncclCommInitRankConfig", c.byref(child), 1, value, 0, c.byref(options)
        fails(4, api.call, *init)
    fails(4, api.call, "ncclCommRevoke", comm, 1)


def case_arguments(ranks):
    comm, stream, address = ranks[0].comm, ranks[0].stream, filled(ranks)[0]
    bad = [
        ("ncclBroadcast", address, address, N, FLOAT, 4, comm, stream),
        ("ncclAllReduce", None, address, N, FLOAT, 0, comm, stream),
        ("ncclAllReduce", address, address, N, FLOAT, 77, comm, stream),
        ("ncclAllReduce", address, address, N, 12, 0, comm, stream),
        ("ncclAllReduce", address, address, N, FLOAT, 0, None, stream),
        ("ncclAllReduce", address, address, N, FLOAT, 0, api.c.c_void_p(0x1234), stream),
        ("ncclSend", address, N, FLOAT, -1, comm, stream),
        ("ncclGetVersion", None),
    ]
    for arguments in bad:
        assert fails(api.INVALID_ARGUMENT, api.call, *arguments)
    value = api.unique_id()
    assert "rank 4 of 4" in fails(api.INVALID_ARGUMENT, api.init_rank, 4, value, 4)
    forged = api.id_from(bytes(128))
    assert "unique id" in fails(api.INVALID_ARGUMENT, api.init_rank, 1, forged, 0)


def case_same_device(ranks):
    comms = (api.c.c_void_p * 2)()
    devices = (api.c.c_int * 2)(1, 1)
    text = fails(api.INVALID_USAGE, api.call, "ncclCommInitAll", comms, 2, devices)
    assert "same device" in text and "--devices 2" in text, text
    assert "10 devices" in fails(api.INVALID_ARGUMENT, api.init_all, 10)


def case_nonblocking(ranks):
    value, pair = api.unique_id(), ranks[:2]
    comms = [api.c.c_void_p() for _ in pair]
    options = api.config(blocking=0)
    codes = []
    for each, comm in zip(pair, comms, strict=True):
        each.select()
        arguments = api.c.byref(comm), 2, value, each.number, api.c.byref(options)
        codes.append(api.nccl.ncclCommInitRankConfig(*arguments))
    assert codes == [api.IN_PROGRESS] * 2, codes
    while any(api.async_error(comm) == api.IN_PROGRESS for comm in comms):
        pass
    data = filled(pair)
    with api.group():
        for each, address, comm in zip(pair, data, comms, strict=True):
            all_reduce(each, address, comm)
    check_sum(pair, data, 3)
    for comm in comms:
        api.call("ncclCommFinalize", comm)
        api.call("ncclCommDestroy", comm)


def case_threads(ranks):
    """Each rank in its own thread, without groups."""
    from concurrent.futures import ThreadPoolExecutor

    value = api.unique_id()

    def run(number):
        each = Rank(number)
        each.comm = api.init_rank(4, value, number)
        address = each.upload(np.full(N, number + 1, np.float32))
        for _ in range(3):
            all_reduce(each, address)
        result = each.download(address, np.zeros(N, np.float32))
        api.call("ncclCommDestroy", each.comm)
        return result

    with ThreadPoolExecutor(4) as pool:
        for result in pool.map(run, range(4)):
            assert (result == 160).all(), result


def case_several_ids(ranks):
    """The first id names the communicator."""
    ids = (api.UniqueId * 2)(api.unique_id(), api.unique_id())
    create, comm = api.nccl.ncclCommInitRankScalable, api.c.c_void_p()
    create.argtypes = (api.c.c_void_p, *[api.c.c_int] * 3, api.c.c_void_p, api.c.c_void_p)
    ranks[0].select()
    for count, value in ((0, ids), (-1, ids), (2, None)):
        request = "ncclCommInitRankScalable", api.c.byref(comm), 1, 0, count, value, None
        assert "needs at least one id" in fails(api.INVALID_ARGUMENT, api.call, *request)
    api.call("ncclCommInitRankScalable", api.c.byref(comm), 1, 0, 2, ids, None)
    address = ranks[0].upload(np.full(N, 5, np.float32))
    all_reduce(ranks[0], address, comm)
    check_sum(ranks[:1], [address], 5)
    api.call("ncclCommDestroy", comm)


def case_wrong_numbers(ranks):
    comms, devices = (api.c.c_void_p * 2)(), (api.c.c_int * 2)
    for wrong in (devices(0, 8), devices(-1, 0)):
        text = fails(api.INVALID_ARGUMENT, api.call, "ncclCommInitAll", comms, 2, wrong)
        assert "there is no device " in text
    address = ranks[0].upload(np.zeros(N, np.float32))
    text = fails(api.INVALID_ARGUMENT, all_reduce, ranks[0], address, None, N, FLOAT, -1)
    assert text.endswith("the reduction operation is negative"), text
    for kind in (-1, 99):
        text = fails(api.INVALID_ARGUMENT, all_reduce, ranks[0], address, None, N, kind)
        assert f"there is no data type {kind}" in text


def cases_of(namespace):
    """Return the functions of a module whose names begin with ``case_``."""
    return {n.removeprefix("case_"): f for n, f in namespace.items() if n.startswith("case_")}


def run_cases(cases, names=()):
    """Run cases by name, or all of them, each with four new ranks."""
    for name in names or cases:
        ranks, _ = join(4)
        try:
            cases[name](ranks)
            print(name, "passed", flush=True)
        except BaseException:
            problem = traceback.format_exc()
            print(name, "failed:", problem.replace("\n", " | "), flush=True)
        for each in ranks:
            if each.comm:
                api.nccl.ncclCommAbort(each.comm)


if __name__ == "__main__":
    # the last one breaks the process
    run_cases(cases_of(globals()) | {"fault_of_a_buffer": fault_of_a_buffer}, sys.argv[1:])
