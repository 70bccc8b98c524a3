# SPDX-License-Identifier: Apache-2.0
"""A refused launch names the limit that it exceeds, also if the driver reports a status only."""

import pytest
from cuda.core import CUDAError, LaunchConfig, ObjectCode, launch
from cuda.core.graph import GraphDefinition

PTX = """
.version 8.0
.target sm_75
.address_size 64
.visible .entry idle() { ret; }
.visible .entry bounded() .maxntid 128, 1, 1 { ret; }
"""
GRID = (1, 70000)
LIMITS = {
    "block": (
        {"block": 2048},
        "block (2048, 1, 1) exceeds a limit of device 0: at most 1024",
    ),
    "block in z": (
        {"block": (1, 1, 128)},
        "block (1, 1, 128) exceeds a limit of device 0",
    ),
    "threads": ({"block": (64, 64)}, "block (64, 64, 1) has 4096 threads, but a block of device 0"),
    "grid": ({"grid": GRID}, "grid (1, 70000, 1) exceeds a limit of device 0: at most 65535 in y"),
    "cluster": ({"cluster": 32}, "cluster (32, 1, 1) has 32 blocks, which is too large: device 0"),
}


@pytest.fixture
def silent_driver(monkeypatch):
    """The driver of a GPU, which has no words of its own."""
    from cuda.core import emulation

    monkeypatch.setattr(emulation, "error_text", lambda code: "")


def kernel_of(name):
    return ObjectCode.from_ptx(PTX).get_kernel(name)


@pytest.mark.parametrize("limit", LIMITS)
def test_a_launch_names_the_limit(silent_driver, stream, limit):
    options, message = LIMITS[limit]
    if "cluster" in options and stream.device.compute_capability < (9, 0):
        pytest.skip("clusters need compute capability 9.0")
    config = LaunchConfig(**{"grid": 1, "block": 1, **options})
    with pytest.raises(CUDAError) as caught:
        launch(stream, config, kernel_of("idle"))
    assert message in str(caught.value)


def test_a_launch_names_the_limit_of_the_kernel(silent_driver, stream):
    with pytest.raises(CUDAError) as caught:
        launch(stream, LaunchConfig(grid=1, block=256), kernel_of("bounded"))
    assert "block (256, 1, 1) has 256 threads, but this kernel supports at most 128" in str(
        caught.value
    )


def test_a_prepared_launch_names_the_limit(silent_driver, stream):
    prepared = kernel_of("idle").prepare(LaunchConfig(grid=1, block=2048))
    with pytest.raises(CUDAError) as caught:
        prepared(stream)
    assert LIMITS["block"][1] in str(caught.value)


def test_a_kernel_node_names_the_limit(silent_driver, device):
    graph = GraphDefinition()
    with pytest.raises(CUDAError) as caught:
        graph.launch(LaunchConfig(grid=1, block=(64, 64)), kernel_of("idle"))
    assert LIMITS["threads"][1] in str(caught.value)
    node = graph.launch(LaunchConfig(grid=1, block=1), kernel_of("idle"))
    with pytest.raises(CUDAError) as caught:
        node.update(config=LaunchConfig(grid=GRID, block=1))
    assert LIMITS["grid"][1] in str(caught.value)
    assert node.grid == (1, 1, 1)
