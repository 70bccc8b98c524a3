# SPDX-License-Identifier: Apache-2.0
"""`await stream` and `await event`: the loop continues, and a thread of the package waits."""

import asyncio
import functools
import gc
import threading
import weakref

import pytest
from cuda.core import CUDAError, EventOptions, LaunchConfig, launch
from cuda.core.execution.stream import waiter_threads

NAME = "cuda.core waiter"


def waiters():
    return [each for each in threading.enumerate() if each.name == NAME]


@pytest.fixture
def gate():
    """An event that host functions on a stream wait for."""
    gate = threading.Event()
    yield gate
    gate.set()


@pytest.fixture(params=["asyncio", "uvloop"])
def run(request):
    if request.param == "asyncio":
        return asyncio.run
    return pytest.importorskip("uvloop").run


def close_after(gate, stream):
    """Make the stream wait until the gate is set."""
    stream.launch_host(lambda: gate.wait(30))


@pytest.mark.parametrize("is_event", [False, True], ids=["stream", "event"])
def test_other_tasks_run_until_the_work_has_completed(run, stream, gate, is_event):
    order = []

    async def observe():
        target = stream.record() if is_event else stream
        assert await target is None
        order.append("awaited")

    async def main():
        close_after(gate, stream)
        task = asyncio.create_task(observe())
        for _ in range(3):
            await asyncio.sleep(0.01)
            order.append("other")
        assert not task.done()
        gate.set()
        await task

    run(main())
    assert order == ["other"] * 3 + ["awaited"]


def test_the_default_stream_is_awaited(run, device, gate):
    """Threads and contexts have default streams of their own under one handle."""

    async def main():
        close_after(gate, device.default_stream)
        tasks = [asyncio.create_task(observe()) for _ in range(2)]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert len(waiters()) == 1 and not any(task.done() for task in tasks)
        gate.set()
        await asyncio.gather(*tasks)

    async def observe():
        await device.default_stream

    run(main())


def test_completed_work_needs_no_thread(run, stream):
    async def main():
        event = stream.record()
        stream.sync()
        before = len(waiters())
        await event
        await stream
        await stream.record(options=EventOptions(timing_enabled=True))
        return len(waiters()) - before

    assert run(main()) <= 1  # the last event may be pending


def test_work_submitted_later_is_not_awaited(run, stream, gate):
    async def main():
        task = asyncio.create_task(await_stream())
        await asyncio.sleep(0)
        close_after(gate, stream)
        await asyncio.wait_for(task, 60)

    async def await_stream():
        await stream

    run(main())


def test_the_stream_that_completes_first_is_noticed_first(run, device, gate, pinned_block):
    first, second = device.create_stream(), device.create_stream()
    late = memoryview(pinned_block).cast("B")
    late[0] = 0

    async def main():
        first.wait_value(pinned_block, 1, "&")  # host functions of two streams share a thread
        close_after(gate, second)
        waits = {
            asyncio.ensure_future(asyncio.wait_for(each, 60)): each for each in (first, second)
        }
        await asyncio.sleep(0.05)
        gate.set()
        done, _ = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        assert [waits[each] for each in done] == [second]
        late[0] = 1
        await asyncio.gather(*waits)

    try:
        run(main())
    finally:
        late[0] = 1


def test_many_waits_of_one_stream_share_a_thread(run, stream, gate):
    async def main():
        close_after(gate, stream)

        async def one(_):
            await stream

        tasks = [asyncio.create_task(one(i)) for i in range(100)]
        await asyncio.sleep(0.05)
        count = len(waiters())
        gate.set()
        await asyncio.gather(*tasks)
        return count

    before = len(waiters())
    assert run(main()) <= before + 1


def test_idle_threads_end(run, device, gate):
    streams = [device.create_stream() for _ in range(12)]

    async def main():
        for each in streams:
            close_after(gate, each)
        tasks = [asyncio.ensure_future(asyncio.wait_for(each, 60)) for each in streams]
        await asyncio.sleep(0.05)
        gate.set()
        await asyncio.gather(*tasks)
        for _ in range(500):
            if len(waiters()) <= 4:
                return
            await asyncio.sleep(0.01)

    run(main())
    assert len(waiters()) <= 4
    for each in streams:
        each.close()


def test_a_canceled_wait_leaves_the_others(run, stream, gate):
    async def main():
        close_after(gate, stream)
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(stream, 0.02)
        task = asyncio.ensure_future(asyncio.wait_for(stream, 60))
        await asyncio.sleep(0.02)
        gate.set()
        await task
        await stream

    run(main())


def test_a_closed_loop_is_ignored(stream, gate, capfd):
    loop = asyncio.new_event_loop()

    async def begin():
        close_after(gate, stream)
        task = asyncio.ensure_future(asyncio.wait_for(stream, 60))
        await asyncio.sleep(0.02)
        task.cancel()

    loop.run_until_complete(begin())
    loop.close()
    gate.set()
    stream.sync()

    async def later():
        await stream

    asyncio.run(later())
    assert "Traceback" not in capfd.readouterr().err


def test_closing_the_object_meanwhile_has_no_effect(run, device, gate):
    async def main():
        stream, other = device.create_stream(), device.create_stream()
        close_after(gate, stream)
        close_after(gate, other)
        event = other.record()
        tasks = [asyncio.ensure_future(asyncio.wait_for(each, 60)) for each in (stream, event)]
        await asyncio.sleep(0.02)
        event.close()
        stream.close()
        gate.set()
        await asyncio.gather(*tasks)
        with pytest.raises(RuntimeError, match="Stream has been closed"):
            await stream
        with pytest.raises(RuntimeError, match="Event has been closed"):
            await event
        other.close()

    run(main())


def test_a_wait_needs_a_running_loop(stream, gate):
    close_after(gate, stream)
    with pytest.raises(RuntimeError, match="no running event loop"):
        stream.__await__()
    with pytest.raises(RuntimeError, match="no running event loop"):
        stream.record().__await__()
    gate.set()


def test_a_captured_stream_is_refused(run, stream):
    async def main():
        builder = stream.create_graph_builder().begin_building()
        with pytest.raises(RuntimeError, match="does not run; end the capture"):
            await stream
        builder.end_building().close()
        await stream

    run(main())


def test_an_error_of_the_work_is_raised_in_the_task(run, device, stream, load_kernel, emulation):
    kernel = load_kernel(name="failing")

    async def main():
        with emulation.inject("launch@failing", error="CUDA_ERROR_LAUNCH_FAILED"):
            started, gate = threading.Event(), threading.Event()
            stream.launch_host(lambda: (started.set(), gate.wait(30)))
            launch(stream, LaunchConfig(1, None, 1), kernel)
            task = asyncio.ensure_future(asyncio.wait_for(stream, 60))
            await asyncio.sleep(0.02)
            gate.set()
            with pytest.raises(CUDAError, match="CUDA_ERROR_LAUNCH_FAILED"):
                await task

    run(main())


@pytest.fixture
def paused_after_posting(monkeypatch):
    """Call a function in a loop whose waiter threads stop once they have posted an outcome."""
    resumed = threading.Event()

    async def call(function):
        loop = asyncio.get_running_loop()
        post = loop.call_soon_threadsafe

        def post_and_pause(*arguments):
            post(*arguments)
            resumed.wait(30)

        monkeypatch.setattr(loop, "call_soon_threadsafe", post_and_pause)
        try:
            return await waiter_threads.wait(object(), function)
        finally:
            monkeypatch.undo()

    yield call
    resumed.set()


class Owner:
    """An object that a call refers to."""


def test_errors_are_not_retained(paused_after_posting):
    class Failure(Exception):
        pass

    seen = []

    def fail():
        error = Failure()
        seen.append(weakref.ref(error))
        raise error

    async def main():
        with pytest.raises(Failure):
            await paused_after_posting(fail)

    asyncio.run(main())
    gc.collect()
    assert seen[0]() is None


def test_calls_and_results_are_not_retained(paused_after_posting):
    async def main():
        call = functools.partial(lambda owner: (owner, Owner()), Owner())
        result = await paused_after_posting(call)
        del call
        return [weakref.ref(each) for each in result]

    references = asyncio.run(main())
    gc.collect()
    assert [each() for each in references] == [None, None]


def test_loops_of_several_threads(device, gate, in_new_thread):
    async def main():
        device.set_current()
        with device.create_stream() as stream:
            close_after(gate, stream)
            await stream

    threads = [threading.Thread(target=asyncio.run, args=(main(),)) for _ in range(4)]
    for each in threads:
        each.start()
    gate.set()
    for each in threads:
        each.join(30)
        assert not each.is_alive()


def test_a_thread_that_cannot_start_is_an_error_of_the_task(run, stream, gate, monkeypatch):
    def refuse(self):
        raise RuntimeError("can't start new thread")

    async def main():
        monkeypatch.setattr(waiter_threads, "_threads", waiter_threads._Threads())
        monkeypatch.setattr(threading.Thread, "start", refuse)
        close_after(gate, stream)
        with pytest.raises(RuntimeError, match="can't start new thread"):
            await stream
        monkeypatch.undo()
        gate.set()
        await stream

    run(main())


START = """
import asyncio, os, threading
from cuda.core import Device
device = Device(0)
device.set_current()
stream = device.create_stream()
gate = threading.Event()
stream.launch_host(lambda: gate.wait(60))
"""
PROGRAMS = {
    "a process exits while a task waits": """
async def main():
    task = asyncio.ensure_future(asyncio.wait_for(stream, 60))
    await asyncio.sleep(0.02)
    os.environ["done"] = "1"
    task.cancel()
asyncio.run(main())
threading.Timer(0.2, gate.set).start()
""",
    "a loop that is never closed is abandoned": """
loop = asyncio.new_event_loop()
async def wait():
    await stream
task = loop.create_task(wait())
loop.run_until_complete(asyncio.sleep(0.02))
task.cancel()
loop.run_until_complete(asyncio.sleep(0.02))
threading.Timer(0.2, gate.set).start()
""",
    "a child process has its own threads": """
async def wait(target):
    await target
async def main():
    task = asyncio.ensure_future(wait(stream))
    await asyncio.sleep(0.02)
    pid = os.fork()
    if pid == 0:
        from cuda.core.execution.stream import waiter_threads
        async def child():
            return await waiter_threads.wait("key", lambda: 7)
        asyncio.events._set_running_loop(None)
        code = 1
        try:
            loop = asyncio.new_event_loop()
            code = 0 if loop.run_until_complete(asyncio.wait_for(child(), 60)) == 7 else 2
        finally:
            os._exit(code)
    assert os.waitpid(pid, 0)[1] == 0
    gate.set()
    await task
asyncio.run(main())
""",
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_programs(run_python, program):
    run_python(START + PROGRAMS[program])
