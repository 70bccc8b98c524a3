# SPDX-License-Identifier: Apache-2.0
"""mode=adversarial: work starts when a call waits for it, in an order drawn from the seed."""

import pytest

from ..programs.raw_calls import RAW_CALLS

SEEDS = [0, 1, 7, 12345]

PROGRAM = (
    RAW_CALLS
    + """
start()
Words = ctypes.c_uint32 * 4
pinned = output("cuMemAllocHost", 16)
host = Words.from_address(pinned)
memory = output("cuMemAlloc", 16)
assert driver("cuMemsetD32", memory, 5, 4) == 0
assert driver("cuCtxSynchronize") == 0
stream, other = output("cuStreamCreate", 1), output("cuStreamCreate", 1)
"""
)


@pytest.fixture(params=SEEDS)
def adversarial(request, run_emulated):
    """Run code under one seed; return the words on stdout."""

    def run(code, **options):
        done = run_emulated(PROGRAM + code, mode="adversarial", seed=request.param, **options)
        return done.stdout.split()

    return run


# Enqueued work and the location of its result, with the values before and after.
UNWAITED = {
    "device to host": ('driver("cuMemcpyDtoHAsync", pinned, memory, 16, stream)', "host[0]", 0, 5),
    "host to host by memset": ('driver("cuMemsetD32Async", pinned, 9, 4, stream)', "host[0]", 0, 9),
    "host function": (
        "seen = []; f = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(seen.append); "
        'driver("cuLaunchHostFunc", stream, f, 1)', "len(seen)", 0, 1),
}  # fmt: skip


@pytest.mark.parametrize("case", UNWAITED)
def test_a_result_is_absent_without_a_wait(adversarial, case):
    queue, shows, before, after = UNWAITED[case]
    words = adversarial(f"""
host[:] = [0] * 4
{queue}
print({shows})
assert driver("cuStreamSynchronize", stream) == 0
print({shows})
""")
    assert words == [str(before), str(after)]


def test_waiting_for_one_stream_does_not_start_another(adversarial):
    words = adversarial("""
driver("cuMemsetD32Async", pinned, 1, 1, stream)
driver("cuMemsetD32Async", pinned + 4, 2, 1, other)
host[:] = [0] * 4
driver("cuStreamSynchronize", other)
print(*host[:2])
driver("cuStreamSynchronize", stream)
print(*host[:2])
""")
    assert words == ["0", "2", "1", "2"]


def test_an_event_starts_its_dependencies_in_other_streams(adversarial):
    words = adversarial("""
event = output("cuEventCreate", 0)
host[:] = [0] * 4
driver("cuMemsetD32Async", pinned, 1, 1, stream)
driver("cuEventRecord", event, stream)
driver("cuStreamWaitEvent", other, event, 0)
driver("cuMemsetD32Async", pinned + 4, 2, 1, other)
driver("cuMemsetD32Async", pinned + 8, 3, 1, stream)
driver("cuStreamSynchronize", other)
print(*host[:3])
""")
    assert words == ["1", "2", "0"]


def test_the_first_query_is_not_ready_and_later_ones_start_the_work(adversarial):
    words = adversarial("""
driver("cuMemsetD32Async", pinned, 1, 1, stream)
print(driver("cuStreamQuery", stream))
while driver("cuStreamQuery", stream) == 600:
    pass
print(host[0])
""")
    assert words == ["600", "1"]


def test_work_that_is_never_awaited_runs_after_a_while(adversarial):
    words = adversarial("""
import time
host[0] = 0
driver("cuMemsetD32Async", pinned, 1, 1, stream)
until = time.monotonic() + 20
while host[0] == 0 and time.monotonic() < until:
    pass
print(host[0])
""")
    assert words == ["1"]


ORDER = """
host[0] = 0
order = []
kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
functions = [kind(lambda _, i=i: order.append(i)) for i in range(6)]
streams = [output("cuStreamCreate", 1) for _ in functions]
for function, each in zip(functions, streams):
    driver("cuLaunchHostFunc", each, function, 0)
driver("cuCtxSynchronize")
print(*order)
"""


def test_a_wait_for_a_value_does_not_keep_the_write_from_running(adversarial):
    words = adversarial("""
assert driver("cuStreamWaitValue32", stream, memory, 7, 1) == 0
assert driver("cuStreamWriteValue32", other, memory, 7, 0) == 0
assert driver("cuStreamSynchronize", stream) == 0
assert driver("cuMemcpyDtoH", pinned, memory, 16) == 0
print(*host)
""")
    assert words == ["7", "5", "5", "5"]


def test_a_seed_gives_one_order_and_seeds_differ(run_emulated):
    def order(seed):
        done = run_emulated(PROGRAM + ORDER, mode="adversarial", seed=seed)
        assert sorted(done.stdout.split()) == list("012345")
        return done.stdout

    assert order(3) == order(3)
    assert len({order(seed) for seed in range(4)}) > 1
