# SPDX-License-Identifier: Apache-2.0
"""Edges of arguments, values and texts, as cases with four ranks of one process."""

import ctypes as c
import math
import os
import struct
import subprocess
import time
from pathlib import Path

import api
import numpy as np
from cases import FLOAT, INT, N, all_reduce, cases_of, check_sum, fails, filled, run_cases

SIZE = c.c_size_t
OPERATIONS = ("ncclSum", "ncclProd", "ncclMax", "ncclMin", "ncclAvg")
NAMES = [f"nccl{name.capitalize()}" for name in api.TYPES]
# The arguments behind the count and type, and the description of each call.
CALLS = {
    "AllReduce": ((api.SUM,), "ncclAllReduce(count {0}, {1}, ncclSum)"),
    "Reduce": ((api.SUM, 0), "ncclReduce(count {0}, {1}, ncclSum, root 0)"),
    "ReduceScatter": ((api.SUM,), "ncclReduceScatter(count {0}, {1}, ncclSum)"),
    "Broadcast": ((0,), "ncclBroadcast(count {0}, {1}, root 0)"),
    "AllGather": ((), "ncclAllGather(count {0}, {1})"),
    "AlltoAll": ((), "ncclAlltoAll(count {0}, {1})"),
    "Gather": ((0,), "ncclGather(count {0}, {1}, root 0)"),
    "Scatter": ((0,), "ncclScatter(count {0}, {1}, root 0)"),
}


def is_accepted(call, *arguments):
    """Return whether a call is accepted in a group that ends without running its calls."""
    api.call("ncclGroupStart")
    code = getattr(api.nccl, call)(*arguments)
    ended = api.nccl.ncclGroupSimulateEnd(None)
    assert code == ended, "the group ends with the first error"
    assert code in (0, api.INVALID_ARGUMENT), code
    return code == 0


def case_null_buffers(ranks):
    first, address = ranks[0], filled(ranks)[0]
    for name, (rest, text) in CALLS.items():
        for number, kind in enumerate(NAMES):
            request = f"nccl{name}", None, address, 7, number, *rest, first.comm, first.stream
            expected = f"{text.format(7, kind)}: a buffer is null"
            assert fails(api.INVALID_ARGUMENT, api.call, *request) == expected
        assert is_accepted(f"nccl{name}", None, None, 0, FLOAT, *rest, first.comm, first.stream)
    for operation, word in enumerate(OPERATIONS):
        text = fails(4, api.call, "ncclAllReduce", None, None, 1, 0, operation,
                     first.comm, first.stream)  # fmt: skip
        assert text == f"ncclAllReduce(count 1, ncclInt8, {word}): a buffer is null"
    for name, role in (("ncclSend", "to"), ("ncclRecv", "from")):
        text = fails(4, api.call, name, None, 5, INT, 3, first.comm, first.stream)
        assert text == f"{name}(count 5, ncclInt32, {role} rank 3): a buffer is null"
        text = fails(4, api.call, name, address, 5, INT, 4, first.comm, first.stream)
        assert text.endswith(f"{role} rank 4): the communicator has ranks 0 to 3"), text


def case_buffers_that_a_rank_does_not_use(ranks):
    """Only the root needs the buffer of all ranks."""
    other, address = ranks[1], filled(ranks)[1]
    end = FLOAT, 0, other.comm, other.stream
    reduce_end = FLOAT, api.SUM, 0, other.comm, other.stream
    assert is_accepted("ncclReduce", address, None, N, *reduce_end)
    assert not is_accepted("ncclReduce", None, address, N, *reduce_end)
    for name, sends in (("ncclGather", True), ("ncclBroadcast", False), ("ncclScatter", False)):
        assert is_accepted(name, address, None, N, *end) == sends, name
        assert is_accepted(name, None, address, N, *end) == (not sends), name


def case_overlapping_buffers(ranks):
    """Buffers overlap only in the places that NCCL documents; here of rank 1 of 4."""
    rank, count = ranks[1], 8
    bytes_ = 4 * count
    base = rank.upload(np.zeros(64 * count, np.float32)) + 16 * bytes_
    own, root = bytes_, 1
    # the elements of each buffer, in counts, and the distance of the receive buffer in place
    shapes = {
        "AllReduce": ((api.SUM,), 1, 1, 0),
        "Reduce": ((api.SUM, root), 1, 1, 0),
        "Broadcast": ((root,), 1, 1, 0),
        "AllGather": ((), 1, 4, -own),
        "Gather": ((root,), 1, 4, -own),
        "ReduceScatter": ((api.SUM,), 4, 1, own),
        "Scatter": ((root,), 4, 1, own),
        "AlltoAll": ((), 4, 4, None),
    }
    for name, (rest, sent, received, in_place) in shapes.items():
        for distance in range(-5 * bytes_, 5 * bytes_ + 1, 4):
            separate = distance >= sent * bytes_ or -distance >= received * bytes_
            arguments = base, base + distance, count, FLOAT, *rest, rank.comm, rank.stream
            expected = separate or distance == in_place
            assert is_accepted(f"nccl{name}", *arguments) == expected, (name, distance)


def case_roots(ranks):
    first, address = ranks[0], filled(ranks)[0]
    for name in ("Broadcast", "Gather", "Scatter"):
        for root, accepted in ((-1, False), (0, True), (3, True), (4, False)):
            arguments = address, address + 4096, 1, FLOAT, root, first.comm, first.stream
            assert is_accepted(f"nccl{name}", *arguments) == accepted, (name, root)


def case_null_outputs(ranks):
    comm = ranks[0].comm
    value = api.unique_id()
    none_first = {
        "ncclGetVersion": (), "ncclGetUniqueId": (), "ncclCommInitAll": (1, None),
        "ncclMemAlloc": (SIZE(64),), "ncclCommInitRank": (1, value, 0),
        "ncclCommInitRankConfig": (1, value, 0, None),
        "ncclCommInitRankScalable": (1, 0, 1, c.byref(value), None),
        "ncclRedOpCreatePreMulSum": (c.byref(c.c_float(1)), FLOAT, 1, comm),
    }  # fmt: skip
    calls = {name: (None, *rest) for name, rest in none_first.items()} | {
        "ncclCommCount": (comm, None),
        "ncclCommCuDevice": (comm, None),
        "ncclCommUserRank": (comm, None),
        "ncclCommGetAsyncError": (comm, None),
        "ncclCommGetUniqueId": (comm, None),
        "ncclCommMemStats": (comm, 0, None),
        "ncclCommSplit": (comm, 0, 0, None, None),
        "ncclCommShrink": (comm, (c.c_int * 1)(1), 1, None, None, 0),
        "ncclCommGrow": (comm, 8, None, -1, None, None),
        "ncclCommRegister": (comm, c.c_void_p(64), SIZE(64), None),
        "ncclCommWindowRegister": (comm, c.c_void_p(64), SIZE(64), None, 0),
        "ncclWinGetUserPtr": (comm, None, None),
    }
    for name, arguments in calls.items():
        text = fails(api.INVALID_ARGUMENT, api.call, name, *arguments)
        assert text == f"{name}: an output pointer is null", text


def case_no_communicator(ranks):
    out, flags = c.c_void_p(7), (c.c_int * 1)(1)
    value = api.UniqueId()
    calls = {
        "ncclCommCount": (c.byref(out),), "ncclCommCuDevice": (c.byref(out),),
        "ncclCommUserRank": (c.byref(out),), "ncclCommGetAsyncError": (c.byref(out),),
        "ncclCommGetUniqueId": (c.byref(value),), "ncclCommMemStats": (0, c.byref(out)),
        "ncclCommSplit": (0, 0, c.byref(out), None),
        "ncclCommShrink": (flags, 1, c.byref(out), None, 0),
        "ncclCommRegister": (c.c_void_p(64), SIZE(64), c.byref(out)),
        "ncclCommFinalize": (), "ncclCommDestroy": (), "ncclCommAbort": (),
        "ncclCommRevoke": (0,),
    }  # fmt: skip
    destroyed = "the handle is no communicator, or the communicator was destroyed"
    for name, rest in calls.items():
        for handle, expected in ((None, "the communicator is null"), (c.c_void_p(16), destroyed)):
            assert fails(api.INVALID_ARGUMENT, api.call, name, handle, *rest) == expected, name
    create = "ncclRedOpCreatePreMulSum", c.byref(out), c.byref(c.c_float(1)), FLOAT, 1
    assert fails(api.INVALID_ARGUMENT, api.call, *create, None) == "the communicator is null"
    destroy = "ncclRedOpDestroy", 5, None
    assert fails(api.INVALID_ARGUMENT, api.call, *destroy) == "the communicator is null"
    assert api.last_error(c.c_void_p(16)) == destroyed


def case_numbers_of_ranks(ranks):
    value = api.unique_id()
    for total, rank in ((0, 0), (-1, 0), (17, 0), (2, 2), (2, -1), (1, 1)):
        text = fails(api.INVALID_ARGUMENT, api.init_rank, total, value, rank)
        limits = "is invalid; the emulation has 1 to 16 ranks"
        assert text == f"rank {rank} of {total} {limits}", text
    comms = (c.c_void_p * 9)()
    for count in (0, -1, 9):
        text = fails(api.INVALID_ARGUMENT, api.call, "ncclCommInitAll", comms, count, None)
        assert text.startswith(f"ncclCommInitAll for {count} devices; there are 8 (")
    devices = (c.c_int * 2)(0, 8)
    text = fails(api.INVALID_ARGUMENT, api.call, "ncclCommInitAll", comms, 2, devices)
    assert text == "there is no device 8"
    api.call("ncclCommInitAll", comms, 8, None)
    for number, comm in enumerate(comms[:8]):
        numbers = []
        for name in ("Count", "UserRank", "CuDevice"):
            out = c.c_int()
            api.call(f"ncclComm{name}", c.c_void_p(comm), c.byref(out))
            numbers.append(out.value)
        assert numbers == [8, number, number]
        api.call("ncclCommDestroy", c.c_void_p(comm))


def case_configurations(ranks):
    """`blocking` is 0, 1 or undefined; smaller and foreign structures are refused."""
    undefined, magic = -(2**31), 0xCAFEBEEF
    ranks[0].select()

    def init(size, mark, blocking):
        comm, options = c.c_void_p(7), api.Config(size, mark, 23203, blocking)
        init_rank = api.nccl.ncclCommInitRankConfig
        code = init_rank(c.byref(comm), 1, api.unique_id(), 0, c.byref(options))
        return code, comm

    for blocking, expected in ((0, api.IN_PROGRESS), (1, 0), (undefined, 0)):
        code, comm = init(24, magic, blocking)
        assert code == expected, blocking
        while api.async_error(comm) == api.IN_PROGRESS:
            pass
        api.call("ncclCommDestroy", comm)
    initializer = "the configuration was not initialized by NCCL_CONFIG_INITIALIZER"
    for size, mark, blocking, text in (
        (23, magic, 1, initializer),
        (24, magic - 1, 1, initializer),
        (24, magic, 2, "the configuration's `blocking` is 2, not 0 or 1"),
        (24, magic, -1, "the configuration's `blocking` is -1, not 0 or 1"),
    ):
        code, comm = init(size, mark, blocking)
        assert (code, comm.value) == (api.INVALID_ARGUMENT, None)
        assert api.last_error() == text


def case_texts_of_results(ranks):
    texts = [
        "no error", "a call of the CUDA driver failed", "a call of the operating system failed",
        "internal error", "invalid argument", "invalid usage",
        "another rank failed or its process ended", "the operation is in progress",
        "a rank did not arrive in time", "unknown result code",
    ]  # fmt: skip
    actual = [api.nccl.ncclGetErrorString(code).decode() for code in range(10)]
    assert actual == texts, actual
    assert api.nccl.ncclGetErrorString(-1) == b"unknown result code"
    api.nccl.ncclResetDebugInit()


def case_estimate_of_a_group(ranks):
    """A simulated group copies 10 GB per second."""

    class Simulation(c.Structure):
        _fields_ = (("size", SIZE), ("marks", c.c_uint * 2), ("time", c.c_float))

    data = filled(ranks, 4 * N)
    result = Simulation(24, (0x74685283, 23203), -1)
    with_types = ((FLOAT, 4), (INT, 4), (api.NUMBER_OF["float64"], 8), (0, 1))
    api.call("ncclGroupStart")
    for kind, _ in with_types:
        all_reduce(ranks[0], data[0], count=N, kind=kind)
    api.call("ncclGroupSimulateEnd", c.byref(result))
    assert math.isclose(result.time, N * sum(size for _, size in with_types) / 10_000, rel_tol=1e-6)
    forged = Simulation(24, (0x74685282, 23203), -1)
    text = fails(4, api.call, "ncclGroupSimulateEnd", c.byref(forged))
    assert text == "the argument was not initialized by NCCL_SIM_INFO_INITIALIZER"
    assert fails(5, api.call, "ncclGroupSimulateEnd", None).startswith("a group ends that")
    api.call("ncclGroupStart")
    fails(4, all_reduce, ranks[0], None)
    result.time = -1
    assert fails(4, api.call, "ncclGroupSimulateEnd", c.byref(result))
    assert result.time == -1


def case_all_codes_of_small_floats(ranks):
    """A reduction of one rank keeps every number; NaN has one code, infinities of FP8 saturate."""
    comm, first = c.c_void_p(), ranks[0]
    first.select()
    api.call("ncclCommInitAll", c.byref(comm), 1, None)
    formats = {
        # bits, infinity, its result, the NaN
        "float16": (np.uint16, 0x7C00, 0x7C00, 0x7FFF),
        "bfloat16": (np.uint16, 0x7F80, 0x7F80, 0x7FFF),
        "float8e4m3": (np.uint8, None, None, 0x7F),
        "float8e5m2": (np.uint8, 0x7C, 0x7B, 0x7F),
    }
    for name, (bits, infinity, of_infinity, nan) in formats.items():
        largest = np.iinfo(bits).max
        codes = np.arange(int(largest) + 1, dtype=np.uint32).astype(bits)
        sign = bits(largest // 2 + 1)
        magnitude = codes & (sign - bits(1))
        is_nan = magnitude > infinity if infinity else magnitude == nan
        expected = np.where(is_nan, bits(nan), codes)
        if infinity:
            beyond = (codes & sign) | bits(of_infinity)
            expected = np.where(magnitude == infinity, beyond, expected)
        for operation in range(5):
            address = first.upload(codes)
            kind = api.NUMBER_OF[name]
            all_reduce(first, address, comm, len(codes), kind, operation)
            actual = first.download(address, codes)
            wrong = actual != expected
            assert not wrong.any(), (name, operation, codes[wrong][:4], actual[wrong][:4])
            first.free(address)
    api.call("ncclCommDestroy", comm)


def case_scaled_sums(ranks):
    """The factor of an operation multiplies each element, in blocks, in the type of the call."""
    comm, first, count = c.c_void_p(), ranks[0], 3001
    first.select()
    api.call("ncclCommInitAll", c.byref(comm), 1, None)
    for name in ("int8", "uint8", "int32", "uint32", "int64", "uint64", "float32", "float64"):
        kind, dtype = api.NUMBER_OF[name], np.dtype(name)
        values = np.arange(count).astype(dtype)
        factor = np.full(1, 3, dtype)
        handle = c.c_int()
        create = "ncclRedOpCreatePreMulSum", c.byref(handle), c.c_void_p(factor.ctypes.data)
        api.call(*create, kind, 1, comm)
        address = first.upload(values)
        all_reduce(first, address, comm, count, kind, handle.value)
        with np.errstate(over="ignore"):
            assert (first.download(address, values) == values * dtype.type(3)).all(), name
        api.call("ncclRedOpDestroy", handle, comm)
        first.free(address)
        assert handle.value == 5, "the number of a destroyed operation is used again"
    api.call("ncclCommDestroy", comm)


def case_created_operations_have_numbers(ranks):
    comm, other = ranks[0].comm, ranks[1].comm
    factor, handle = c.c_float(2), c.c_int(7)

    def create(scalar=True, kind=FLOAT, residence=1, owner=comm):
        pointer = c.byref(factor) if scalar else None
        api.call("ncclRedOpCreatePreMulSum", c.byref(handle), pointer, kind, residence, owner)
        return handle.value

    assert [create(), create(), create(owner=other), create()] == [5, 6, 5, 7]
    api.call("ncclRedOpDestroy", 6, comm)
    fails(4, all_reduce, ranks[0], filled(ranks)[0], None, N, FLOAT, 6)
    assert [create(), create()] == [6, 8]
    invalid = "ncclRedOpCreatePreMulSum: the scalar, its type or its residence is invalid"
    for wrong in (
        {"scalar": False}, {"kind": -1}, {"kind": 12}, {"residence": 2}, {"residence": -1},
    ):  # fmt: skip
        assert fails(4, lambda wrong=wrong: create(**wrong)) == invalid, wrong
    for missing in (4, 9, -1):
        text = fails(4, api.call, "ncclRedOpDestroy", missing, comm)
        assert text == "ncclRedOpDestroy: the operation does not exist"
    text = fails(4, all_reduce, ranks[0], filled(ranks)[0], None, N, FLOAT, 9)
    assert text == "the reduction operation does not exist"


def case_calls_after_the_end(ranks):
    comm, address = ranks[0].comm, filled(ranks)[0]
    api.call("ncclCommFinalize", comm)  # without an operation
    api.call("ncclCommRevoke", comm, 0)
    text = fails(api.INVALID_USAGE, api.call, "ncclCommFinalize", comm)
    assert text == "ncclCommFinalize of a revoked communicator"
    text = fails(api.INVALID_USAGE, all_reduce, ranks[0], address)
    assert text == "the communicator was revoked"
    assert api.nccl.ncclCommRevoke(comm, -1) == api.INVALID_ARGUMENT
    assert api.last_error() == "ncclCommRevoke: flags must be 0"
    api.call("ncclCommDestroy", comm)
    ranks[0].comm = None


def case_windows(ranks):
    comm, handles = ranks[0].comm, []
    for address in (0x1000, 0x2000, 0x3000):
        out = c.c_void_p()
        register = "ncclCommWindowRegister", comm, c.c_void_p(address), SIZE(64)
        api.call(*register, c.byref(out), 0)
        handles.append(out)
    for handle, address in zip(handles, (0x1000, 0x2000, 0x3000), strict=True):
        user = c.c_void_p()
        api.call("ncclWinGetUserPtr", comm, handle, c.byref(user))
        assert user.value == address
    api.call("ncclCommWindowDeregister", comm, handles[1])
    for call, rest in (("ncclWinGetUserPtr", (c.byref(user),)), ("ncclCommWindowDeregister", ())):
        text = fails(4, api.call, call, comm, handles[1], *rest)
        assert text.startswith(f"{call}: the ") and text.endswith(" is not registered"), text
    api.call("ncclWinGetUserPtr", comm, handles[2], c.byref(user))
    assert user.value == 0x3000
    for handle in (handles[0], handles[2]):
        api.call("ncclCommWindowDeregister", comm, handle)
    api.call("ncclMemFree", None)
    text = fails(1, api.call, "ncclMemFree", c.c_void_p(0x10))
    assert text.startswith("cuMemFree returned 1: "), text
    text = fails(1, api.call, "ncclMemAlloc", c.byref(user), SIZE(0))
    assert text.startswith("cuMemAlloc returned 1: "), text


def case_repeated_derivation(ranks):
    """Communicators that are derived one after the other have different names."""
    pairs, first = [], ranks[0]
    for _ in range(2):
        children = [c.c_void_p() for _ in ranks[:2]]
        excluded = (c.c_int * 2)(2, 3)
        with api.group():
            for each, child in zip(ranks[:2], children, strict=True):
                shrink = "ncclCommShrink", each.comm, excluded, 2, c.byref(child), None, 0
                api.call(*shrink)
        pairs.append(children)
    ids = []
    for child in (pairs[0][0], pairs[1][0], first.comm):
        value = api.UniqueId()
        api.call("ncclCommGetUniqueId", child, c.byref(value))
        ids.append(bytes(value))
    assert len(set(ids)) == 3
    for children in pairs:
        data = filled(ranks[:2])
        with api.group():
            for each, address, child in zip(ranks[:2], data, children, strict=True):
                all_reduce(each, address, child)
        check_sum(ranks[:2], data, 3)
        out = c.c_int()
        for number, child in enumerate(children):
            api.call("ncclCommUserRank", child, c.byref(out))
            assert out.value == number
            text = fails(4, api.call, "ncclCommGrow", child, 2, None, -1, c.byref(out), None)
            assert text == "ncclCommGrow to 2 ranks from 2", text
    for child in (*pairs[0], *pairs[1]):
        api.call("ncclCommDestroy", child)


def case_abandoned_segments(ranks):
    """A new id removes old files of processes that ended while they initialized."""
    _, own, start, _ = struct.unpack_from("4q", bytes(api.unique_id()))
    assert own == os.getpid()
    ended = subprocess.Popen(["true"])
    ended.wait()
    files = {  # the age of each in seconds, and whether it stays
        f"{ended.pid}-1-a": (90, False),
        f"{ended.pid}-1-b": (30, True),
        f"{own}-{start:x}-c": (90, True),
        f"{own}-{start + 1:x}-d": (90, False),
        f"{ended.pid}-1": (90, True),  # not such a file
    }
    paths = {Path(f"/dev/shm/halfwarp-nccl-{name}"): rest for name, rest in files.items()}
    try:
        for path, (age, _) in paths.items():
            path.touch()
            os.utime(path, (time.time() - age,) * 2)
        api.unique_id()
        assert {path: path.exists() for path in paths} == {
            p: stays for p, (_, stays) in paths.items()
        }
    finally:
        for path in paths:
            path.unlink(missing_ok=True)


if __name__ == "__main__":
    run_cases(cases_of(globals()))
