# SPDX-License-Identifier: Apache-2.0
"""Arrays and textures during captures, forks, interpreter exit and on other threads."""

import numpy as np
import pytest
from cuda.bindings import driver
from cuda.core import StreamOptions
from cuda.core.texture import MipmappedArrayOptions, OpaqueArrayOptions, ResourceDescriptor

from ...threads import run_together

GLOBAL = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL
OPTIONS = OpaqueArrayOptions((4, 3), "float32", 1, True)
START = """
import os, sys
from cuda.core import Device
from cuda.core.texture import OpaqueArrayOptions, ResourceDescriptor
device = Device(0)
device.set_current()
array = device.create_opaque_array(OpaqueArrayOptions((4, 3), "float32", 1, True))
resource = ResourceDescriptor.from_opaque_array(array)
texture = device.create_texture_object(resource=resource, options=None)
surface = device.create_surface_object(resource=resource)
"""


def make_all(device):
    with (
        device.create_opaque_array(OPTIONS) as array,
        device.create_mipmapped_array(MipmappedArrayOptions((4, 4), "uint8", 1, 2)),
    ):
        resource = ResourceDescriptor.from_opaque_array(array)
        device.create_texture_object(resource=resource, options=None).close()
        device.create_surface_object(resource=resource).close()


def test_a_capture_survives_creation_and_closing_of_others(device):
    with device.create_stream(options=StreamOptions(nonblocking=True)) as other:
        assert driver.cuStreamBeginCapture(other.handle, GLOBAL)[0] == 0
        make_all(device)
        code, graph = driver.cuStreamEndCapture(other.handle)
        assert code == 0
        assert driver.cuGraphDestroy(graph)[0] == 0


def test_nothing_is_printed_at_exit(run_python):
    assert run_python(START) == ""


def test_a_forked_child_destroys_nothing(run_python):
    code = """
sys.stdout.flush()
child = os.fork()
if child == 0:
    texture.close(); surface.close(); array.close()
    os._exit(7)
assert os.waitpid(child, 0)[1] >> 8 == 7
print(texture.is_closed, array.is_closed)
"""
    assert run_python(START + code).strip() == "False False"


def test_several_threads_create_copy_and_close(device):
    def work():
        device_here = type(device)(0)
        device_here.set_current()
        data, back = np.arange(12, dtype=np.float32), np.zeros(12, np.float32)
        with device_here.create_stream() as stream:
            for _ in range(20):
                with device_here.create_opaque_array(OPTIONS) as array:
                    array.copy_from(data, stream=stream)
                    array.copy_to(back, stream=stream)
                    stream.sync()
                assert (data == back).all()

    run_together(*[work] * 4)


def test_one_array_is_closed_by_many_threads(device):
    array = device.create_opaque_array(OPTIONS)
    run_together(*[array.close] * 8)
    assert array.is_closed


def test_the_conversion_of_an_option_may_close_the_source(device):
    array = device.create_opaque_array(OPTIONS)

    class Closing(float):
        def __float__(self):
            array.close()
            return 1.0

    resource = ResourceDescriptor.from_opaque_array(array)
    options = {"border_color": (Closing(), 0, 0, 0)}
    with pytest.raises(RuntimeError, match="OpaqueArray has been closed"):
        device.create_texture_object(resource=resource, options=options)


def test_a_recorded_copy_is_a_node_of_all_its_bytes(device, stream):
    with (
        device.create_opaque_array(OPTIONS) as array,
        device.allocate(48, stream=stream) as memory,
    ):
        stream.sync()
        assert driver.cuStreamBeginCapture(stream.handle, GLOBAL)[0] == 0
        array.copy_from(memory, stream=stream)
        graph = driver.cuStreamEndCapture(stream.handle)[1]
        node = driver.cuGraphGetNodes(graph, 1)[1][0]
        code, copy = driver.cuGraphMemcpyNodeGetParams(node)
        assert code == 0
        assert int(copy.dstArray) == array.handle and int(copy.srcDevice) == memory.handle
        assert (copy.WidthInBytes, copy.Height, copy.Depth) == (16, 3, 1)
        assert driver.cuGraphDestroy(graph)[0] == 0
