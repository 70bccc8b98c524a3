# SPDX-License-Identifier: Apache-2.0
"""Filters over gradients, across the edges of cubes, and along one side of a long footprint."""

import gzip
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from cuda.bindings import driver
from cuda.core import emulation

from tests.emulator.texture.bench import CLAMP, CUBE, LAYERED, Array, Bench, Levels, Texture
from tests.emulator.texture.filter_probe import KERNELS, NORMALIZED, SEAMLESS, noise

RECORDED = Path(__file__).with_name("filters_h200.txt.gz")
LEVELS = {"mipmapFilterMode": driver.CUfilter_mode(1), "maxMipmapLevelClamp": 9.0}
FILTERED = ("cube", "gradient", "anisotropy 0", "anisotropy 1 ")
NEAR = 1 / 8  # on average, for noise between -2 and 2
# Weights have eight bits; the probe records how exact a device is.
IS_EMULATED = emulation.is_active()
STEP = 1 / 128 if IS_EMULATED else 1 / 64  # of a level
EXACT = 2**-20 if IS_EMULATED else 2**-4  # of elements that are up to 4 apart


@pytest.fixture(scope="module")
def bench():
    result = Bench(KERNELS, "read_cube")
    yield result
    result.stream.close()


def flat_levels(count, shape):
    """Return levels that hold their own number, so a read value identifies the level."""
    return [np.full([max(1, n >> level) for n in shape], level) for level in range(count)]


SHAPES = {
    "line": ((16,), (16, 0, 0), 0),
    "plane": ((16, 16), (16, 16, 0), 0),
    "volume": ((16, 16, 16), (16, 16, 16), 0),
}


def lengths(steps):
    """Approximate the lengths of vectors like an H200."""
    return np.sort(np.abs(steps), axis=1) @ [1 / 4, 11 / 32, 1]


@pytest.mark.parametrize("name", SHAPES)
def test_the_longest_diameter_chooses_the_level(bench, name):
    shape, extents, flags = SHAPES[name]
    axes = len(shape)
    random = np.random.default_rng(axes)
    steps = np.zeros((60, 9), np.float32)
    steps[:, 3 : 3 + axes] = random.uniform(-0.6, 0.6, (60, axes))
    steps[:, 6 : 6 + axes] = random.uniform(-0.6, 0.6, (60, axes))
    first, second = 16 * steps[:, 3:6], 16 * steps[:, 6:]
    diagonals = [11 / 16 * (first + second), 11 / 16 * (first - second)]
    longest = np.max([lengths(each) for each in (first, second, *diagonals)], axis=0)
    wants = np.clip(np.log2(longest), 0, 4)
    with (
        Levels(flat_levels(5, shape), extents, flags) as array,
        Texture(array.resource(), CLAMP, True, NORMALIZED, **LEVELS) as texture,
    ):
        result = bench.run(f"grad_{name}", texture, steps, width=9)[:, 0]
    assert np.abs(result - wants).max() <= STEP


def test_layers_and_planes_use_gradients_alike(bench):
    data = [np.stack([each, each + 10]) for each in flat_levels(5, (16, 16))]
    points = [[0.5, 0.5, layer, 0.25, 0, 0, 0, 0.125, 0] for layer in (0, 1)]
    with (
        Levels(data, (16, 16, 2), LAYERED) as array,
        Texture(array.resource(), CLAMP, True, NORMALIZED, **LEVELS) as texture,
    ):
        result = bench.run("grad_layers", texture, points, width=9)[:, 0]
    assert result == pytest.approx([2, 12], abs=STEP)


def test_the_gradient_of_a_cube_is_measured_on_its_face(bench):
    """Beside the middle of a face it is half of the step; a step outward crosses nothing."""
    data = [np.stack([each] * 6) for each in flat_levels(5, (16, 16))]
    points = [
        [1, 0, 0, 0, 0.5, 0, 0, 0, 0],
        [1, 0, 0, 0, 0, 1, 0, 0.5, 0],
        [0, -2, 0, 0.5, 0, 0, 0, 0, 0],
        [0, 0, 1, 0, 0, 0.5, 0, 0, 0],
    ]
    with (
        Levels(data, (16, 16, 6), CUBE) as array,
        Texture(array.resource(), CLAMP, True, NORMALIZED, **LEVELS) as texture,
    ):
        result = bench.run("grad_cube", texture, points, width=9)[:, 0]
    assert result == pytest.approx([2, 3, 1, 0], abs=STEP)


class TestSeamless:
    """Faces are +x, -x, +y, -y, +z, -z; rows of +x go against z, its columns against y."""

    def read(self, bench, data, points, flags=NORMALIZED | SEAMLESS):
        size = data.shape[1]
        with (
            Array(data, (size, size, 6), CUBE) as array,
            Texture(array.resource(), CLAMP, True, flags) as texture,
        ):
            return bench.run("read_cube", texture, points, width=9)[:, 0]

    def test_an_edge_averages_two_faces(self, bench):
        data = noise(6, 4, 4)
        half = 0.25  # the middle of an element beside the middle of the edge
        points = [[1, -half, 1], [1, 1, half], [-1, half, 1], [half, -1, -1]]
        pairs = [
            ((0, 2, 0), (4, 2, 3)),
            ((0, 0, 1), (2, 2, 3)),
            ((1, 1, 3), (4, 1, 0)),
            ((3, 3, 2), (5, 3, 1)),
        ]
        wants = [(data[first] + data[second]) / 2 for first, second in pairs]
        assert np.abs(self.read(bench, data, points) - wants).max() <= EXACT
        without = self.read(bench, data, points, NORMALIZED)
        # If two coordinates have equal magnitude, the later one chooses the face.
        assert np.abs(without - [data[second] for _, second in pairs]).max() <= EXACT

    def test_a_corner_averages_three_faces(self, bench):
        data = noise(6, 2, 2)
        wants = [
            (data[0, 0, 0] + data[2, 1, 1] + data[4, 0, 1]) / 3,
            (data[1, 1, 0] + data[3, 1, 0] + data[5, 1, 1]) / 3,
        ]
        result = self.read(bench, data, [[1, 1, 1], [-1, -1, -1]])
        # The fourth weight has no element of its own: the mean replaces it.
        assert np.abs(result - wants).max() <= EXACT

    def test_values_are_continuous_across_faces(self, bench):
        data = noise(6, 8, 8)
        along = np.linspace(-0.99, 0.99, 50)
        near = 1 - 2**-20
        first = [[1, a, near] for a in along] + [[a, 1, near] for a in along]
        second = [[near, a, 1] for a in along] + [[a, near, 1] for a in along]
        jumps = np.abs(self.read(bench, data, first) - self.read(bench, data, second))
        assert jumps.max() <= 2**-4
        without = [self.read(bench, data, each, NORMALIZED) for each in (first, second)]
        assert np.abs(without[0] - without[1]).max() > 1

    def test_the_middle_of_a_face_is_unchanged(self, bench):
        data = noise(6, 4, 4)
        points = [[1, 0.25, 0.25], [0.25, -1, -0.25], [0.1, 0.3, -1]]
        assert self.read(bench, data, points).tolist() == (
            self.read(bench, data, points, NORMALIZED).tolist()
        )


@pytest.mark.skipif(not IS_EMULATED, reason="a device has filters of its own")
class TestAnisotropy:
    """Checks the formulas of GL_EXT_texture_filter_anisotropic; the CUDA guide has none."""

    def read(self, bench, data, points, most):
        extra = {**LEVELS, "maxAnisotropy": most}
        with (
            Levels(data, (64, 64, 0)) as array,
            Texture(array.resource(), CLAMP, True, NORMALIZED, **extra) as texture,
        ):
            return bench.run("grad_plane", texture, points, width=9)[:, 0]

    @pytest.mark.parametrize(
        ("most", "wants"),
        [(0, [4, 4, 4]), (1, [4, 4, 4]), (2, [3, 3, 4]), (4, [2, 2, 4]), (64, [1, 0, 4])],
    )
    def test_the_level_follows_a_part_of_the_longer_side(self, bench, most, wants):
        long, short = 16 / 64, 2 / 64
        points = [
            [0.5, 0.5, 0, long, 0, 0, 0, short, 0],
            [0.5, 0.5, 0, 0, 0, 0, 0, long, 0],  # the maximum: 16 parts
            [0.5, 0.5, 0, long, 0, 0, 0, long, 0],  # round
        ]
        result = self.read(bench, flat_levels(7, (64, 64)), points, most)
        assert np.abs(result - wants).max() <= STEP

    def test_samples_lie_along_the_longer_side(self, bench):
        """Over columns of 0 and 1 in turn, 8 wide, a footprint over all columns reads gray."""
        stripes = np.tile(np.repeat([0.0, 1.0], 8), (64, 4)).astype(np.float32)
        data = [stripes[:: 1 << n, :: 1 << n] for n in range(7)]
        points = [
            [0.5 + 1 / 16, 0.5, 0, 0.5, 0, 0, 0, 1 / 64, 0],
            [0.5 + 1 / 16, 0.5, 0, 1 / 64, 0, 0, 0, 0.5, 0],
        ]
        across, along = self.read(bench, data, points, 16)
        assert abs(across - 0.5) < 0.15 and along in (0, 1)

    def test_a_ramp_keeps_its_middle(self, bench):
        ramp = np.tile(np.arange(64, dtype=np.float32), (64, 1))
        data = [ramp[:: 1 << n, :: 1 << n] for n in range(7)]
        point = [0.5, 0.5, 0, 5 / 64, 0, 0, 0, 1 / 64, 0]
        assert self.read(bench, data, [point], 8)[0] == pytest.approx(31.5, abs=2**-8)


def probe():
    done = subprocess.run(
        [sys.executable, "-m", "tests.emulator.texture.filter_probe"],
        cwd=Path(__file__).parents[3],
        env=os.environ,
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(line.split(": ", 1) for line in done.stdout.splitlines())


def recorded_answers():
    text = gzip.decompress(RECORDED.read_bytes()).decode()
    return dict(line.split(": ", 1) for line in text.splitlines())


def floats(text):
    rows = [row.split(",") for row in text.split()]
    return np.array([[int(word, 16) for word in row] for row in rows], np.uint32).view(np.float32)


@pytest.mark.skipif(not IS_EMULATED, reason="about the emulated driver")
class TestProbe:
    def test_every_point_is_written(self):
        result = probe()
        assert len(result) > 60
        filtered = [text for name, text in result.items() if name.startswith(("cube", "grad"))]
        assert len(filtered) > 20
        assert all(np.isfinite(floats(text)).all() for text in filtered)

    def test_all_but_anisotropic_filters_equal_those_of_the_device(self):
        recorded, result = recorded_answers(), probe()
        assert list(recorded) == list(result)
        names = [name for name in recorded if name.startswith(FILTERED)]
        assert len(names) == 27
        errors = {n: np.abs(floats(result[n]) - floats(recorded[n])).max() for n in names}
        assert {name: error for name, error in errors.items() if not error <= 1 / 32} == {}
        same = [n for n in recorded if not n.startswith((*FILTERED, "anisotropy"))]
        assert len(same) == 22
        assert {n: result[n] for n in same} == {n: recorded[n] for n in same}

    def test_anisotropic_filters_are_close_to_those_of_the_device(self):
        """The device's results do not reveal the positions and weights of its samples."""
        recorded, result = recorded_answers(), probe()
        names = [n for n in recorded if n.startswith("anisotropy") and not n.startswith(FILTERED)]
        assert len(names) == 12
        errors = {n: np.abs(floats(result[n]) - floats(recorded[n]))[:, 0] for n in names}
        assert {n: e.mean() for n, e in errors.items() if not e.mean() <= NEAR} == {}
        # The samples make the difference: without them, the result is farther off.
        plain = floats(result["anisotropy 1 mipmap=1"])[:, 0]
        for name in names:
            if name.endswith("mipmap=1"):
                without = np.abs(plain - floats(recorded[name])[:, 0]).mean()
                assert errors[name].mean() < without / 2
