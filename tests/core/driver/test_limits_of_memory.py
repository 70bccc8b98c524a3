# SPDX-License-Identifier: Apache-2.0
"""Rules of pitched memory, named also if the driver reports a status only, as on a GPU."""

import numpy as np
import pytest
from cuda.core import CUDAError
from cuda.core.graph import GraphDefinition
from cuda.core.texture import ResourceDescriptor


@pytest.fixture
def silent_driver(monkeypatch):
    from cuda.core import emulation

    monkeypatch.setattr(emulation, "error_text", lambda code: "")


@pytest.fixture
def buffer(device, stream):
    with device.allocate(4096, stream=stream) as buffer:
        yield buffer


def test_a_fill_names_its_pitch(silent_driver, buffer):
    with pytest.raises(CUDAError, match="pitch is 32 bytes, but a row has 64") as caught:
        GraphDefinition().memset(buffer, np.uint32(1), 16, height=4, pitch=32)
    assert str(caught.value).endswith("[cuGraphAddNode]")


@pytest.mark.parametrize("side", ["dst", "src"])
def test_a_copy_names_its_pitch(silent_driver, buffer, side):
    pitches = {"dst_pitch": 64, "src_pitch": 64, f"{side}_pitch": 32}
    with pytest.raises(CUDAError, match=f"{side}_pitch is 32 bytes, but a row has 64"):
        GraphDefinition().memcpy_2d(buffer, buffer, 64, 4, **pitches)


def test_a_texture_names_the_alignment_of_rows(silent_driver, device, buffer):
    resource = ResourceDescriptor.from_pitch2d(
        buffer, format="float32", num_channels=1, width=8, height=8, pitch_bytes=40
    )
    with pytest.raises(CUDAError, match="pitch_bytes is 40, but must be a multiple of 32"):
        device.create_texture_object(resource=resource)
