# SPDX-License-Identifier: Apache-2.0
"""A process where no driver can be loaded: features that work, and failures that repeat."""

import pytest

PREAMBLE = """
import pickle
from cuda.core import *
from cuda.core import Device, Event, EventOptions, Stream, StreamOptions
from cuda.core import LEGACY_DEFAULT_STREAM, PER_THREAD_DEFAULT_STREAM, CUDAError
"""

WORKING = {
    "tokens": "assert hash(LEGACY_DEFAULT_STREAM) == 1 and hash(PER_THREAD_DEFAULT_STREAM) == 2",
    "token handle": "assert int(LEGACY_DEFAULT_STREAM.handle) == 1",
    "token repr": "assert repr(LEGACY_DEFAULT_STREAM) == '<Stream handle=0x1 context=0x0>'",
    "token equality": "assert LEGACY_DEFAULT_STREAM == Stream.from_handle(1)",
    "wrapping": "s = Stream.from_handle(0x10); s.close(); assert s.is_closed",
    "options": "assert pickle.loads(pickle.dumps(EventOptions())) == EventOptions()",
    "explanations": """
from cuda.core._core import make_driver_error
error = make_driver_error(1)
assert error.name == "CUDA_ERROR_INVALID_VALUE" and len(str(error)) > 40, error
""",
}

FAILING = {
    "Device()": "Device()",
    "Device(0)": "Device(0)",
    "Device(0) in a thread": """
import threading
outcome = []
def work():
    try:
        Device(0)
    except RuntimeError as error:
        outcome.append(error)
thread = threading.Thread(target=work); thread.start(); thread.join()
raise outcome[0]
""",
    "get_all_devices": "Device.get_all_devices()",
    "Stream()": "Stream()",
    "sync": "LEGACY_DEFAULT_STREAM.sync()",
    "record": "LEGACY_DEFAULT_STREAM.record()",
    "record on a wrapper": "Stream.from_handle(0x10).record()",
    "wait": "LEGACY_DEFAULT_STREAM.wait(PER_THREAD_DEFAULT_STREAM)",
    "is_done": "LEGACY_DEFAULT_STREAM.is_done",
    "context": "LEGACY_DEFAULT_STREAM.context",
    "priority": "Stream.from_handle(0x10).priority",
    "launch_host": "LEGACY_DEFAULT_STREAM.launch_host(print)",
    "driver version": "from cuda.core._utils.version import driver_version; driver_version()",
}


@pytest.fixture
def no_driver(tmp_path):
    """An environment in which libcuda cannot be found, even if the machine has one."""
    (tmp_path / "libcuda.so.1").write_text("not a library")
    return {"HALFWARP_BACKEND": "driver", "LD_LIBRARY_PATH": str(tmp_path)}


@pytest.mark.parametrize("code", WORKING.values(), ids=WORKING)
def test_it_works_without_a_driver(run_python, no_driver, code):
    run_python(PREAMBLE + code, **no_driver)


@pytest.mark.parametrize("code", FAILING.values(), ids=FAILING)
def test_it_fails_the_same_way_twice(run_python, no_driver, code):
    indented = "\n".join(f"    {line}" for line in code.strip().splitlines())
    program = f"""
def use():
{indented}

texts = []
for attempt in range(2):
    try:
        use()
    except RuntimeError as error:
        texts.append(str(error))
assert len(texts) == 2 and texts[0] == texts[1], texts
print(texts[0])
"""
    text = run_python(PREAMBLE + program, **no_driver)
    assert "libcuda" in text
    assert "HALFWARP_BACKEND=emulator" in text
