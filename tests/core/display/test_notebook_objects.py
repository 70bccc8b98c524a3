# SPDX-License-Identifier: Apache-2.0
"""Notebook output of buffers, kernels, streams and graphs; signatures without addresses."""

import inspect
import xml.etree.ElementTree as xml

import pytest
from cuda.core import Buffer, Device, LaunchConfig, ObjectCode, launch

from .test_notebook import cells

PTX = ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry empty() { ret; }\n"


@pytest.fixture
def empty():
    return ObjectCode.from_ptx(PTX).get_kernel("empty")


def test_a_buffer_shows_its_size_and_access(device, stream):
    with device.allocate(2048, stream=stream) as buffer:
        rows = cells(buffer._repr_html_())
        assert rows["size"] == "2 KiB" and rows["accessible from"] == "device"
        assert rows["address"] == hex(int(buffer.handle))
    assert buffer._repr_html_() is None


def test_a_kernel_shows_its_resources(device, empty):
    html = empty._repr_html_()
    assert "Kernel empty" in html
    assert cells(html)["registers of a thread"] == str(empty.attributes.num_regs)


def test_a_stream_shows_its_settings_and_stays_capturable(device):
    stream = device.create_stream()
    assert cells(stream._repr_html_())["device"] == str(device.device_id)
    builder = stream.create_graph_builder().begin_building()
    assert cells(builder.stream._repr_html_())["priority"] == str(stream.priority)
    builder.end_building()
    stream.close()
    assert stream._repr_html_() is None


def test_a_builder_shows_its_state_and_its_graph(device, empty):
    builder = device.create_graph_builder()
    assert "not started" in builder._repr_html_()
    builder.begin_building()
    launch(builder, LaunchConfig(grid=1, block=1), empty)
    assert "capturing" in builder._repr_html_()
    builder.end_building()
    html = builder._repr_html_()
    assert xml.fromstring(html).tag == "div"
    assert "<svg" in html and "ended" in html
    graph = builder.complete()
    assert cells(graph._repr_html_())["number"] == str(graph.id)
    graph.close()
    builder.close()
    assert graph._repr_html_() is builder._repr_html_() is None


@pytest.mark.parametrize("method", [Device.allocate, Buffer.fill, Buffer.copy_to])
def test_a_signature_has_no_address(method):
    signature = inspect.signature(method)
    assert "stream=..." in str(signature)
    assert " at 0x" not in str(signature)
