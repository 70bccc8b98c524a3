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
NEAR = 1 / 8  # on the average, of noise between -2 and 2
# Weights have eight bits; how exact a device is, the probe records.
IS_EMULATED = emulation.is_active()
STEP = 1 / 128 if IS_EMULATED else 1 / 64  # of a level
EXACT = 2**-20 if IS_EMULATED else 2**-4  # of elements that are up to 4 apart


@pytest.fixture(scope="module")
def bench():
    made = Bench(KERNELS, "read_cube")
    yield made
    made.stream.close()


def flat_levels(count, shape):
    """Each level is its own number, so that what is read is the level."""
    return [np.full([max(1, n >> level) for n in shape], level) for level in range(count)]


SHAPES = {
    "line": ((16,), (16, 0, 0), 0),
    "plane": ((16, 16), (16, 16, 0), 0),
    "volume": ((16, 16, 16), (16, 16, 16), 0),
}


def lengths(steps):
    """About those of vectors, as an H200 takes them."""
    return np.sort(np.abs(steps), axis=1) @ [1 / 4, 11 / 32, 1]


@pytest.mark.parametrize("name", SHAPES)
def test_the_level_is_that_of_the_longest_diameter(bench, name):
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
        found = bench.run(f"grad_{name}", texture, steps, width=9)[:, 0]
    assert np.abs(found - wants).max() <= STEP


def test_the_gradient_of_layers_is_that_of_a_plane(bench):
    data = [np.stack([each, each + 10]) for each in flat_levels(5, (16, 16))]
    points = [[0.5, 0.5, layer, 0.25, 0, 0, 0, 0.125, 0] for layer in (0, 1)]
    with (
        Levels(data, (16, 16, 2), LAYERED) as array,
        Texture(array.resource(), CLAMP, True, NORMALIZED, **LEVELS) as texture,
    ):
        found = bench.run("grad_layers", texture, points, width=9)[:, 0]
    assert found == pytest.approx([2, 12], abs=STEP)


def test_the_gradient_of_a_cube_is_how_far_a_face_is_crossed(bench):
    """Beside the middle of a face, half of the step; a step outward crosses nothing."""
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
        found = bench.run("grad_cube", texture, points, width=9)[:, 0]
    assert found == pytest.approx([2, 3, 1, 0], abs=STEP)


class TestSeamless:
    """Faces are +x, -x, +y, -y, +z, -z; rows of +x go against z, its columns against y."""

    def read(self, bench, data, points, flags=NORMALIZED | SEAMLESS):
        size = data.shape[1]
        with (
            Array(data, (size, size, 6), CUBE) as array,
            Texture(array.resource(), CLAMP, True, flags) as texture,
        ):
            return bench.run("read_cube", texture, points, width=9)[:, 0]

    def test_an_edge_is_the_middle_of_two_faces(self, bench):
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
        # Of two coordinates that are as long, the later chooses the face.
        assert np.abs(without - [data[second] for _, second in pairs]).max() <= EXACT

    def test_a_corner_is_the_middle_of_three_faces(self, bench):
        data = noise(6, 2, 2)
        wants = [
            (data[0, 0, 0] + data[2, 1, 1] + data[4, 0, 1]) / 3,
            (data[1, 1, 0] + data[3, 1, 0] + data[5, 1, 1]) / 3,
        ]
        found = self.read(bench, data, [[1, 1, 1], [-1, -1, -1]])
        # The fourth weight goes to no element of its own: what is missing is the mean.
        assert np.abs(found - wants).max() <= EXACT

    def test_nothing_jumps_where_faces_meet(self, bench):
        data = noise(6, 8, 8)
        along = np.linspace(-0.99, 0.99, 50)
        near = 1 - 2**-20
        first = [[1, a, near] for a in along] + [[a, 1, near] for a in along]
        second = [[near, a, 1] for a in along] + [[a, near, 1] for a in along]
        jumps = np.abs(self.read(bench, data, first) - self.read(bench, data, second))
        assert jumps.max() <= 2**-4
        without = [self.read(bench, data, each, NORMALIZED) for each in (first, second)]
        assert np.abs(without[0] - without[1]).max() > 1

    def test_the_middle_of_a_face_stays(self, bench):
        data = noise(6, 4, 4)
        points = [[1, 0.25, 0.25], [0.25, -1, -0.25], [0.1, 0.3, -1]]
        assert self.read(bench, data, points).tolist() == (
            self.read(bench, data, points, NORMALIZED).tolist()
        )


@pytest.mark.skipif(not IS_EMULATED, reason="a device has filters of its own")
class TestAnisotropy:
    """By the formulas of GL_EXT_texture_filter_anisotropic; the CUDA guide has none."""

    def read(self, bench, data, points, most):
        more = {**LEVELS, "maxAnisotropy": most}
        with (
            Levels(data, (64, 64, 0)) as array,
            Texture(array.resource(), CLAMP, True, NORMALIZED, **more) as texture,
        ):
            return bench.run("grad_plane", texture, points, width=9)[:, 0]

    @pytest.mark.parametrize(
        ("most", "wants"),
        [(0, [4, 4, 4]), (1, [4, 4, 4]), (2, [3, 3, 4]), (4, [2, 2, 4]), (64, [1, 0, 4])],
    )
    def test_the_level_is_that_of_a_part_of_the_longer_side(self, bench, most, wants):
        long, short = 16 / 64, 2 / 64
        points = [
            [0.5, 0.5, 0, long, 0, 0, 0, short, 0],
            [0.5, 0.5, 0, 0, 0, 0, 0, long, 0],  # as long as it may be: 16 parts
            [0.5, 0.5, 0, long, 0, 0, 0, long, 0],  # round
        ]
        found = self.read(bench, flat_levels(7, (64, 64)), points, most)
        assert np.abs(found - wants).max() <= STEP

    def test_samples_lie_along_the_longer_side(self, bench):
        """Columns that are 0 and 1 in turn, 8 wide: a footprint over all is grey."""
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
        found = probe()
        assert len(found) > 60
        filtered = [text for name, text in found.items() if name.startswith(("cube", "grad"))]
        assert len(filtered) > 20
        assert all(np.isfinite(floats(text)).all() for text in filtered)

    def test_all_but_anisotropic_filters_are_those_of_the_device(self):
        recorded, found = recorded_answers(), probe()
        assert list(recorded) == list(found)
        names = [name for name in recorded if name.startswith(FILTERED)]
        assert len(names) == 27
        errors = {n: np.abs(floats(found[n]) - floats(recorded[n])).max() for n in names}
        assert {name: error for name, error in errors.items() if not error <= 1 / 32} == {}
        same = [n for n in recorded if not n.startswith((*FILTERED, "anisotropy"))]
        assert len(same) == 22
        assert {n: found[n] for n in same} == {n: recorded[n] for n in same}

    def test_anisotropic_filters_are_near_those_of_the_device(self):
        """Where it puts its samples, and how it weighs them, its answers do not tell."""
        recorded, found = recorded_answers(), probe()
        names = [n for n in recorded if n.startswith("anisotropy") and not n.startswith(FILTERED)]
        assert len(names) == 12
        errors = {n: np.abs(floats(found[n]) - floats(recorded[n]))[:, 0] for n in names}
        assert {n: e.mean() for n, e in errors.items() if not e.mean() <= NEAR} == {}
        # So near it is none but for the samples: without them, it is farther off.
        plain = floats(found["anisotropy 1 mipmap=1"])[:, 0]
        for name in names:
            if name.endswith("mipmap=1"):
                without = np.abs(plain - floats(recorded[name])[:, 0]).mean()
                assert errors[name].mean() < without / 2
