# SPDX-License-Identifier: Apache-2.0
"""Context: a wrapper that shares the native context."""

import re

import pytest
from cuda.bindings import driver
from cuda.core import Context, Device


def test_the_class_cannot_be_called():
    with pytest.raises(RuntimeError, match="^Context objects cannot be instantiated directly"):
        Context()


def test_wrappers_of_one_context_are_equal(device, stream):
    first, second = stream.context, device.context
    assert first is not second
    assert first == second
    assert hash(first) == hash(second) == hash(int(first.handle))


def test_the_handle_has_the_type_of_the_bindings(device):
    handle = device.context.handle
    assert isinstance(handle, driver.CUcontext)
    assert int(handle) == int(driver.cuCtxGetCurrent()[1])
    assert device.context._handle == handle


def test_repr_names_handle_and_device(device):
    assert re.fullmatch(r"<Context handle=0x[0-9a-f]+ device=0>", repr(device.context))


def test_a_primary_context_is_not_green(device):
    assert device.context.is_green is False


def test_only_green_contexts_create_streams(device):
    with pytest.raises(RuntimeError, match="only supported on green contexts"):
        device.context.create_stream()


def test_the_current_context_cannot_be_closed(device):
    context = device.context
    with pytest.raises(RuntimeError, match="while it is current"):
        context.close()
    assert not context.is_closed


def test_closing_one_wrapper_keeps_the_others_open(device, in_new_thread):
    wrapper = device.create_stream().context
    in_new_thread(wrapper.close)
    assert wrapper.is_closed
    assert wrapper.handle is None
    device.sync()
    assert device.context != wrapper


def test_a_stream_keeps_its_context_alive(run_python):
    code = """
from cuda.bindings import driver
from cuda.core import Device
import threading
streams = []
def work():
    device = Device(0)
    device.set_current()
    streams.append(device.create_stream())
thread = threading.Thread(target=work)
thread.start()
thread.join()
active = driver.cuDevicePrimaryCtxGetState(0)[2]
streams[0].sync()
streams.clear()
print(active, driver.cuDevicePrimaryCtxGetState(0)[2])
"""
    assert run_python(code).split() == ["1", "0"]


def test_a_closed_wrapper_is_replaced(in_new_thread):
    def use():
        device = Device(0)
        device.set_current()
        context = device.context
        driver.cuCtxSetCurrent(0)
        context.close()
        device.set_current()
        return device.context.is_closed

    assert in_new_thread(use) is False
