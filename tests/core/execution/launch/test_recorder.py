# SPDX-License-Identifier: Apache-2.0
"""The flight recorder: its entries, the launches that errors show, synchronous launches."""

import threading
from functools import partial

import pytest
from cuda.bindings.driver import CUresult
from cuda.core import LaunchConfig, launch, recent_launches
from cuda.core._core import make_driver_error

from ....programs.forking import FORK
from ....threads import run_together

ONE = LaunchConfig(grid=1, block=1)


def test_a_launch_is_recorded(device, stream, load_kernel):
    kernel = load_kernel(name="_Z5scaleIfEvPT_")
    config = LaunchConfig(grid=(2, 3, 4), block=(5, 6, 7), shmem_size=16)
    launch(stream, config, kernel)
    newest = recent_launches()[0]
    assert newest.kernel == "scale<float>" or newest.kernel == "_Z5scaleIfEvPT_"
    assert (newest.grid, newest.block, newest.shmem_size) == ((2, 3, 4), (5, 6, 7), 16)
    assert newest.stream == int(stream.handle)
    assert newest.device == device.device_id
    assert newest.thread == threading.get_ident()
    assert newest.count == 1


def test_equal_consecutive_launches_are_one_entry(stream, load_kernel):
    first, second = load_kernel(name="one"), load_kernel(name="other")
    for kernel in (first, first, first, second, first):
        launch(stream, ONE, kernel)
    newest = recent_launches()[:3]
    assert [(launch.kernel, launch.count) for launch in newest] == [
        ("one", 1),
        ("other", 1),
        ("one", 3),
    ]
    assert newest[0].number == newest[1].number + 1 == newest[2].number + 2


def test_the_grid_is_recorded_in_blocks(stream, load_kernel):
    launch(stream, LaunchConfig(grid=2, cluster=4, block=32), load_kernel(name="clustered"))
    assert recent_launches()[0].grid == (8, 1, 1)


def test_a_prepared_launch_is_recorded(stream, load_kernel):
    prepared = load_kernel(name="prepared").prepare(ONE)
    prepared(stream)
    prepared(stream)
    newest = recent_launches()[0]
    assert (newest.kernel, newest.count) == ("prepared", 2)


def test_a_destroyed_kernel_keeps_its_name(stream, load_kernel):
    kernel = load_kernel(name="short_lived")
    launch(stream, ONE, kernel)
    stream.sync()
    del kernel
    assert recent_launches()[0].kernel == "short_lived"


def test_a_refused_argument_is_not_recorded(stream, load_kernel):
    kernel = load_kernel(".param .u32 n")
    launch(stream, ONE, kernel, 1)
    before = recent_launches()
    with pytest.raises(TypeError):
        launch(stream, ONE, kernel, "text")
    assert recent_launches() == before


def test_threads_record_concurrently(device, load_kernel):
    kernels = [load_kernel(name=f"thread{i}") for i in range(4)]

    def work(kernel):
        device.set_current()
        with device.create_stream() as stream:
            for _ in range(200):
                launch(stream, ONE, kernel)
            stream.sync()

    before = max((launch.number for launch in recent_launches()), default=0)
    run_together(*(partial(work, kernel) for kernel in kernels))
    after = recent_launches()
    assert after[0].number - before == 800
    numbers = [launch.number for launch in after]
    assert numbers == sorted(numbers, reverse=True)


START = """
from cuda.core import Device, LaunchConfig, ObjectCode, launch, recent_launches
device = Device(); device.set_current(); stream = device.create_stream()
HEAD = ".version 8.0\\n.target sm_75\\n.address_size 64\\n"
def kernel(name, body="", parameters=""):
    text = f"{HEAD}.visible .entry {name}({parameters}) {{ {body} ret; }}\\n"
    return ObjectCode.from_ptx(text).get_kernel(name)
config = LaunchConfig(grid=1, block=1)
STORE = ".reg .u64 %rd<2>; ld.param.u64 %rd1, [out]; st.global.u64 [%rd1], %rd1;"
fine, bad = kernel("fine"), kernel("bad", STORE, ".param .u64 out")
"""


@pytest.mark.parametrize("entries", [1, 2, 5, 100])
def test_the_environment_sets_the_number_of_entries(run_python, entries):
    code = START + (
        "for i in range(200): launch(stream, LaunchConfig(grid=i + 1, block=1), fine)\n"
        "stream.sync(); print([launch.number for launch in recent_launches()])\n"
    )
    output = run_python(code, HALFWARP_FLIGHT_RECORDER=str(entries))
    assert eval(output) == list(range(200, 200 - entries, -1))


def test_a_child_process_shows_launches_of_its_parent_by_name(run_python):
    code = (
        START
        + FORK
        + (
            "launch(stream, config, fine); stream.sync()\n"
            "in_child(lambda: print([launch.kernel for launch in recent_launches()], flush=True))\n"
            "print(recent_launches()[0].kernel)\n"
        )
    )
    assert run_python(code) == "['fine']\nfine\n"


def test_it_can_be_disabled(run_python):
    code = START + "launch(stream, config, fine); stream.sync(); print(recent_launches())"
    assert run_python(code, HALFWARP_FLIGHT_RECORDER="0") == "[]\n"


FAULT = (
    START
    + """
try:
    for _ in range(40):
        launch(stream, config, fine)
    launch(stream, config, bad, 16)
    stream.sync()
except Exception as error:
    print(type(error).__name__, error.code)
    print("\\n".join(error.__notes__))
"""
)


def test_an_error_of_a_kernel_shows_the_launches(run_python):
    output = run_python(FAULT, allowed=("",)).splitlines()
    assert output[0].startswith("CUDAError 7")
    assert "HALFWARP_SYNC_LAUNCH=1" in output[1]
    assert output[2].startswith("launch 41 (x1): bad grid=(1,1,1) block=(1,1,1) shmem=0 stream=0x")
    assert output[3].startswith("launch 40 (x40): fine grid=(1,1,1)")
    assert len(output) == 4


def test_a_synchronous_launch_names_the_kernel_that_failed(run_python):
    code = FAULT.replace("stream.sync()", "print('not reached')")
    output = run_python(code, allowed=("",), HALFWARP_SYNC_LAUNCH="1").splitlines()
    assert output[0].startswith("CUDAError 7")
    assert output[-1].startswith("launching bad(16) at <string>:")


def test_a_synchronous_launch_does_not_wait_during_a_capture_of_another_stream(run_python):
    """The query of the legacy stream is refused then, but the launch itself succeeds."""
    code = START + (
        "from cuda.core import emulation\n"
        "waits = lambda: emulation.stats()['calls'].get('cuStreamSynchronize', 0)\n"
        "launch(stream, config, fine); before = waits()\n"
        "refused = 'CUDA_ERROR_STREAM_CAPTURE_IMPLICIT'\n"
        "with emulation.inject('cuStreamIsCapturing', error=refused):\n"
        "    launch(stream, config, fine)\n"
        "print(before, waits() - before)\n"
    )
    environment = {"HALFWARP_BACKEND": "emulator", "HALFWARP_SYNC_LAUNCH": "1"}
    assert run_python(code, **environment) == "1 0\n"


def test_other_errors_show_no_launches(run_python):
    code = START + (
        "launch(stream, config, fine)\n"
        "try: launch(stream, LaunchConfig(grid=1, block=4096), fine)\n"
        "except Exception as error: print(error.__notes__[-1][:16], *error.__notes__[:-1])\n"
    )
    output = run_python(code)
    assert output.startswith("launching fine()") and "one of these launches" not in output


# The statuses of an earlier kernel's failure, by their descriptions in cuda.h.
FAILURES_OF_KERNELS = {
    "CUDA_ERROR_ILLEGAL_ADDRESS",
    "CUDA_ERROR_LAUNCH_TIMEOUT",
    "CUDA_ERROR_ASSERT",
    "CUDA_ERROR_HARDWARE_STACK_ERROR",
    "CUDA_ERROR_ILLEGAL_INSTRUCTION",
    "CUDA_ERROR_MISALIGNED_ADDRESS",
    "CUDA_ERROR_INVALID_ADDRESS_SPACE",
    "CUDA_ERROR_INVALID_PC",
    "CUDA_ERROR_LAUNCH_FAILED",
    "CUDA_ERROR_TENSOR_MEMORY_LEAK",
}


def test_the_statuses_of_failed_kernels_show_the_launches(stream, load_kernel):
    launch(stream, ONE, load_kernel(name="suspect"))
    stream.sync()
    showing = {
        status.name
        for status in CUresult
        if "suspect" in "".join(getattr(make_driver_error(int(status)), "__notes__", []))
    }
    assert showing == FAILURES_OF_KERNELS


def test_at_most_32_lines_are_shown(run_python):
    code = START + (
        "for i in range(60): launch(stream, LaunchConfig(grid=i + 1, block=1), fine)\n"
        "launch(stream, config, bad, 16)\n"
        "try: stream.sync()\n"
        "except Exception as error: print(len(error.__notes__[0].splitlines()))\n"
    )
    assert run_python(code, allowed=("",)) == "33\n"
