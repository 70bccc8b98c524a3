# SPDX-License-Identifier: Apache-2.0
"""The emulated driver's rules for dividing a device, and the lifetime of green contexts."""

import os
import subprocess
import sys

import pytest
from cuda.bindings import driver
from cuda.core import emulation

pytestmark = pytest.mark.skipif(not emulation.is_active(), reason="about the emulated driver")

SM = driver.CUdevResourceType.CU_DEV_RESOURCE_TYPE_SM
NONBLOCKING = 1


def check(status, *results):
    assert status == 0, status
    return results[0] if results else None


@pytest.fixture
def all_multiprocessors():
    check(*driver.cuInit(0))
    return check(*driver.cuDeviceGetDevResource(0, SM))


@pytest.fixture
def green(all_multiprocessors):
    group, *_ = driver.cuDevSmResourceSplitByCount(1, all_multiprocessors, 0, 2)[1]
    desc = check(*driver.cuDevResourceGenerateDesc([group], 1))
    handle = check(*driver.cuGreenCtxCreate(desc, 0, 1))
    yield handle
    driver.cuGreenCtxDestroy(handle)


RULES = """
from cuda.bindings import driver
driver.cuInit(0)
kind = driver.CUdevResourceType.CU_DEV_RESOURCE_TYPE_SM
status, processors = driver.cuDeviceGetDevResource(0, kind)
assert status == 0
print(processors.sm.smCount, processors.sm.minSmPartitionSize, processors.sm.smCoscheduledAlignment)
for count in (0, 1, 9, processors.sm.smCount, processors.sm.smCount + 1):
    result = driver.cuDevSmResourceSplitByCount(64, processors, 0, count)
    sizes = [] if result[0] else [g.sm.smCount for g in result[1]][: result[2]]
    remaining = None if result[0] else result[3].sm.smCount
    print(count, result[0].name, len(sizes), sizes[:1], remaining)
"""


def rules(**options):
    environment = {f"HALFWARP_EMULATOR_{k.upper()}": str(v) for k, v in options.items()}
    done = subprocess.run(
        [sys.executable, "-c", RULES],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_large_hopper_is_divided_by_eight():
    lines = rules(cc="9.0", multiprocessors=132)
    assert lines == [
        "132 8 8",
        "0 CUDA_SUCCESS 16 [8] 4",
        "1 CUDA_SUCCESS 16 [8] 4",
        "9 CUDA_SUCCESS 8 [16] 4",
        "132 CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION 0 [] None",
        "133 CUDA_ERROR_INVALID_VALUE 0 [] None",
    ]


def test_an_ampere_has_partitions_of_four():
    assert rules(cc="8.0", multiprocessors=108)[0] == "108 4 2"


def test_a_turing_has_partitions_of_two():
    assert rules(cc="7.5", multiprocessors=72)[0] == "72 2 2"


def test_a_device_too_small_for_its_unit_is_divided_by_two():
    assert rules(cc="9.0", multiprocessors=4)[0] == "4 2 2"


def split(source, *groups):
    expected = []
    for group in groups:
        params = driver.CU_DEV_SM_RESOURCE_GROUP_PARAMS()
        for name, value in group.items():
            setattr(params, name, value)
        expected.append(params)
    return driver.cuDevSmResourceSplit(len(expected), source, 0, expected)


@pytest.mark.parametrize(
    "group",
    [
        {"smCount": 1},
        {"smCount": 3},
        {"smCount": 1000},
        {"smCount": 2, "coscheduledSmCount": 3},
        {"smCount": 2, "coscheduledSmCount": 64},
        {"smCount": 2, "coscheduledSmCount": 4},
        {"smCount": 2, "flags": 2, "localityDomainId": 7},
    ],
    ids=str,
)
def test_an_impossible_group_is_refused(all_multiprocessors, group):
    code = driver.CUresult.CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION
    assert split(all_multiprocessors, group)[0] == code


def test_only_groups_of_one_split_can_be_joined(all_multiprocessors):
    first = split(all_multiprocessors, {"smCount": 2}, {"smCount": 2})[1]
    second = split(all_multiprocessors, {"smCount": 2})[1]
    assert driver.cuDevResourceGenerateDesc(list(first), 2)[0] == 0
    code = driver.CUresult.CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION
    assert driver.cuDevResourceGenerateDesc([first[0], second[0]], 2)[0] == code


def test_a_struct_not_filled_by_the_driver_is_refused():
    check(*driver.cuInit(0))
    blank = driver.CUdevResource()
    blank.type = SM
    assert driver.cuDevResourceGenerateDesc([blank], 1)[0] != 0


def test_the_context_of_a_green_context_cannot_be_destroyed_directly(green):
    view = check(*driver.cuCtxFromGreenCtx(green))
    assert driver.cuCtxDestroy(view)[0] == driver.CUresult.CUDA_ERROR_INVALID_CONTEXT


def test_streams_report_their_green_context(green):
    stream = check(*driver.cuGreenCtxStreamCreate(green, NONBLOCKING, 0))
    assert int(check(*driver.cuStreamGetGreenCtx(stream))) == int(green)
    status, primary, of = driver.cuStreamGetCtx_v2(stream)
    assert status == 0
    assert int(of) == int(green)
    assert int(primary) != int(check(*driver.cuStreamGetCtx(stream)))
    check(*driver.cuStreamDestroy(stream))


def test_a_stream_of_a_green_context_is_nonblocking(green):
    assert driver.cuGreenCtxStreamCreate(green, 0, 0)[0] == 1


def test_a_stream_outlives_its_green_context_and_can_only_be_destroyed(all_multiprocessors):
    desc = check(*driver.cuDevResourceGenerateDesc([all_multiprocessors], 1))
    green = check(*driver.cuGreenCtxCreate(desc, 0, 1))
    stream = check(*driver.cuGreenCtxStreamCreate(green, NONBLOCKING, 0))
    check(*driver.cuDevicePrimaryCtxRetain(0))  # destroying it would destroy the stream
    check(*driver.cuGreenCtxDestroy(green))
    assert driver.cuStreamQuery(stream)[0] == driver.CUresult.CUDA_ERROR_STREAM_DETACHED
    check(*driver.cuStreamDestroy(stream))
    check(*driver.cuDevicePrimaryCtxRelease(0))


def test_a_destroyed_green_context_is_reported(all_multiprocessors):
    desc = check(*driver.cuDevResourceGenerateDesc([all_multiprocessors], 1))
    green = check(*driver.cuGreenCtxCreate(desc, 0, 1))
    check(*driver.cuGreenCtxDestroy(green))
    with emulation.expect_fault("destroyed-handle"):
        assert driver.cuGreenCtxGetId(green)[0] != 0


def test_a_green_context_retains_the_primary_context():
    code = """
from cuda.bindings import driver
driver.cuInit(0)
kind = driver.CUdevResourceType.CU_DEV_RESOURCE_TYPE_SM
whole = driver.cuDeviceGetDevResource(0, kind)[1]
green = driver.cuGreenCtxCreate(driver.cuDevResourceGenerateDesc([whole], 1)[1], 0, 1)[1]
active = driver.cuDevicePrimaryCtxGetState(0)[2]
driver.cuGreenCtxDestroy(green)
print(active, driver.cuDevicePrimaryCtxGetState(0)[2])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", "0"]


def test_events_order_whole_green_contexts(green):
    primary = check(*driver.cuDevicePrimaryCtxRetain(0))
    check(*driver.cuCtxPushCurrent(primary))
    event = check(*driver.cuEventCreate(0))
    order = []
    stream = check(*driver.cuGreenCtxStreamCreate(green, NONBLOCKING, 0))
    from cuda.core import Stream, host_launch

    host_launch(Stream.from_handle(int(stream)), lambda: order.append("first"))
    check(*driver.cuGreenCtxRecordEvent(green, event))
    other = check(*driver.cuStreamCreate(NONBLOCKING))
    check(*driver.cuStreamWaitEvent(other, event, 0))
    host_launch(Stream.from_handle(int(other)), lambda: order.append("second"))
    check(*driver.cuEventRecord(event, other))
    check(*driver.cuGreenCtxWaitEvent(green, event))
    later = check(*driver.cuGreenCtxStreamCreate(green, NONBLOCKING, 0))
    host_launch(Stream.from_handle(int(later)), lambda: order.append("third"))
    check(*driver.cuStreamSynchronize(later))
    assert order == ["first", "second", "third"]
    for each in (stream, other, later):
        check(*driver.cuStreamDestroy(each))
    check(*driver.cuEventDestroy(event))
    check(*driver.cuCtxPopCurrent())
    check(*driver.cuDevicePrimaryCtxRelease(0))


def test_a_failure_in_a_green_context_breaks_the_primary_context(run_python):
    code = """
from cuda.core import ContextOptions, CUDAError, Device, LaunchConfig, ObjectCode, launch
device = Device(0)
device.set_current()
context = device.create_context(ContextOptions([device.resources.sm]))
ptx = '''.version 8.0
.target sm_75
.address_size 64
.visible .entry broken() { trap; ret; }
'''
stream = context.create_stream()
launch(stream, LaunchConfig(grid=1, block=1), ObjectCode.from_ptx(ptx).get_kernel("broken"))
for wait in (stream.sync, device.sync):
    try:
        wait()
    except CUDAError as error:
        print(error.code)
"""
    # unloading may warn, or print a line while the interpreter finalizes
    allowed_lines = (
        "trap by",
        "  ",
        "halfwarp: cuLibraryUnload failed",
        "<string>:12: CUDAWarning: cuLib",
    )
    first, second = run_python(code, allowed=allowed_lines).split()
    assert first == second
    assert first in ("715", "719")
