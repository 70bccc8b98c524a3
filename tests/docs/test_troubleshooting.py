# SPDX-License-Identifier: Apache-2.0
"""The page on troubleshooting lists every class of error and every kind of fault."""

import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import cuda.core
import pytest

from generator.libraries import load_all

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "guide" / "troubleshooting.rst").read_text()
PTX = """
.version 8.0
.target sm_75
.address_size 64
.visible .entry nothing() { ret; }
"""
NAMED = set(re.findall(r"``([A-Za-z]\w+)``", PAGE))


def exceptions_of(module):
    objects = {name: getattr(module, name) for name in module.__all__}
    return {n for n, t in objects.items() if isinstance(t, type) and issubclass(t, BaseException)}


def test_it_lists_the_exceptions_of_the_object_layer():
    assert exceptions_of(cuda.core) and exceptions_of(cuda.core) <= NAMED


def test_it_lists_the_exceptions_of_the_low_layer():
    raised = {lib.decisions.exception for lib in load_all().values() if not lib.is_face}
    assert raised - {""} and raised - {"", None} <= NAMED


def test_it_lists_the_exceptions_of_the_loader():
    assert exceptions_of(import_module("cuda.bindings._internal.utils")) <= NAMED
    assert "DynamicLibNotFoundError" in NAMED


def test_it_lists_the_kinds_of_faults():
    text = (ROOT / "cpp" / "emulator" / "report" / "fault.cpp").read_text()
    kinds = set(re.findall(r'\{fault_kind::\w+, "([\w-]+)"', text))
    section = PAGE.partition("The emulator reports a fault")[2].partition("A result is wrong")[0]
    assert len(kinds) > 20
    assert set(re.findall(r"(?<=\* - )(``.*)", section)) and kinds == {
        kind
        for row in re.findall(r"(?<=\* - )(``.*)", section)
        for kind in re.findall("``([a-z-]+)``", row)
    }


@pytest.mark.parametrize("name", ["CUDA_ERROR_NO_DEVICE", "CUDA_ERROR_NOT_INITIALIZED"])
def test_the_named_codes_exist(name):
    from cuda.bindings import driver

    assert name in PAGE and name in driver.CUresult.__members__


def test_habits_of_other_packages_have_the_shown_messages():
    from cuda.core import Buffer, Device, Event, Kernel, LaunchConfig, ObjectCode, Stream, launch

    kernel = ObjectCode.from_ptx(PTX).get_kernel("nothing")
    with pytest.raises(TypeError) as not_callable:
        kernel(1)
    assert f'"{not_callable.value}"' in PAGE
    for cls in (Stream, Event, Device):
        assert hasattr(cls, "sync") and not hasattr(cls, "synchronize")
    with pytest.raises(AttributeError) as missing:
        Device().default_stream.synchronize  # noqa: B018
    assert str(missing.value).partition(" object ")[2] in PAGE
    assert hasattr(Buffer, "size") and not hasattr(Buffer, "nbytes")
    device = Device()
    device.set_current()
    shown = re.search(r"``launch\(stream, (LaunchConfig\(.*?\)), kernel, \*args\)``", PAGE)[1]
    config = eval(shown, {"LaunchConfig": LaunchConfig})
    launch(device.default_stream, config, kernel)
    device.sync()
    assert isinstance(kernel, Kernel)


def test_running_out_of_memory_has_the_shown_message():
    from cuda.core import Device, DeviceMemoryResource, OutOfMemoryError

    device = Device()
    device.set_current()
    stream = device.create_stream()
    with pytest.raises(OutOfMemoryError) as caught:
        device.allocate(1 << 60, stream=stream)
    stream.close()
    assert {f"{1 << 60}", "reserved", "free"} <= set(re.findall(r"\w+", str(caught.value)))
    assert "``trim()``" in PAGE and callable(DeviceMemoryResource.trim)


def test_an_unknown_backend_has_the_shown_message():
    environment = {**os.environ, "HALFWARP_BACKEND": "other"}
    command = [sys.executable, "-c", "from cuda.core import Device; Device()"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=environment)
    assert "is not understood" in done.stderr.splitlines()[-1]
    assert "is not understood" in PAGE
