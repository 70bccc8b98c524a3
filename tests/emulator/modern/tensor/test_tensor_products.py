# SPDX-License-Identifier: Apache-2.0
"""tcgen05.mma against NumPy: kinds, shapes, layouts of shared memory, scales, pairs of blocks."""

import numpy as np
import pytest

from tests.emulator.modern.matrix_reference import f32

from .products import B_AT, Product, Setup, case_of, check, place_matrix


def test_kinds(run_tensor):
    check(
        run_tensor,
        [
            Product("f16"),
            Product("f16", rows=64, columns=8, adds=True),
            Product("bf16", columns=256),
            Product("tf32", rows=64, columns=24),
            Product("tf32", adds=True, negates=(True, False)),
            Product("e4m3", "e5m2", negates=(True, True)),
            Product("e5m2", "e2m1", adds=True),
            Product("e2m1", "e2m3"),
            Product("e3m2", "e4m3"),
            Product("s8", "u8", columns=48, adds=True),
            Product("u8", "s8", rows=64),
        ],
    )


@pytest.mark.parametrize("mode", ["eager", "adversarial"])
def test_layouts_of_shared_memory(run_tensor, mode):
    products = [
        Product("f16", swizzles=(s, t), adds=True) for s, t in ((128, 32), (64, 128), (32, 64))
    ]
    products += [Product("f16", swizzles=(s, s), transposes=(True, True)) for s in (0, 32, 64, 128)]
    products += [Product("s8", transposes=(False, True)), Product("e4m3", transposes=(True, True))]
    products += [Product("tf32", transposes=(True, False)), Product("e2m1", swizzles=(32, 32))]
    check(run_tensor, products, mode=mode)


def test_a_in_tensor_memory(run_tensor):
    names = ("f16", "tf32", "e4m3", "e2m1", "e2m3", "s8")
    products = [Product(n, "e5m2" if n[0] == "e" else n, a_in_tensor=True) for n in names]
    check(run_tensor, [*products, Product("bf16", rows=64, a_in_tensor=True, adds=True)])


@pytest.mark.parametrize("limit", ["saturates", "wraps"])
def test_sums_of_integers_beyond_a_word(run_tensor, limit):
    options = {"adds": True, "limit": limit}
    check(
        run_tensor,
        [
            Product("s8", **options),
            Product("u8", "s8", rows=64, **options),
            Product("s8", "u8", a_in_tensor=True, **options),
            Product("u8", rows=256, columns=32, blocks=2, **options),
            Product("s8", sparse=True, **options),
            Product("s8", stationary=True, rows=32, **options),
        ],
    )


def test_each_part_of_the_lanes_has_its_rows_of_a(run_tensor):
    """The manual requires copies; here, the rows of A differ between the parts."""
    parts = {"a_in_tensor": True, "has_rolled_parts": True}
    check(
        run_tensor,
        [
            Product("f16", stationary=True, rows=32, columns=128, **parts),
            Product("e4m3", stationary=True, rows=64, columns=64, **parts),
            Product("s8", stationary=True, rows=32, columns=64, **parts),
            Product("tf32", stationary=True, rows=128, columns=64, **parts),
            Product("bf16", rows=128, columns=64, blocks=2, **parts),
        ],
    )


def test_masks_and_scales_of_d(run_tensor):
    mask = [0x0000FFFF, 0, 0xFFFFFFFF, 1 << 31]
    check(
        run_tensor,
        [
            Product("f16", adds=True, mask=mask),
            Product("f16", adds=True, shift=3),
            Product("tf32", adds=True, mask=mask, shift=1),
        ],
    )


def test_block_scales(run_tensor):
    check(
        run_tensor,
        [
            Product("e4m3", "e2m1", kind="mxf8f6f4", vector=1, ids=(0, 3)),
            Product("e2m3", "e5m2", kind="mxf8f6f4", vector=1, ids=(2, 1), columns=128, adds=True),
            Product("e2m1", kind="mxf4", vector=2, ids=(2, 0)),
            Product("e2m1", kind="mxf4nvf4", vector=2, columns=160),
            Product("e2m1", kind="mxf4nvf4", vector=4, scale="ue4m3", adds=True),
            Product("e2m1", kind="mxf4", vector=2, a_in_tensor=True),
        ],
    )


@pytest.mark.parametrize("mode", ["eager", "adversarial"])
def test_pairs_of_blocks(run_tensor, mode):
    check(
        run_tensor,
        [
            Product("f16", rows=256, columns=64, blocks=2, adds=True),
            Product("tf32", rows=128, columns=32, blocks=2, adds=True),
            Product("e4m3", rows=128, columns=64, blocks=2, a_in_tensor=True),
            Product("e4m3", rows=256, kind="mxf8f6f4", vector=1, columns=96, blocks=2),
            Product(
                "f16", rows=256, columns=16, blocks=2, adds=True, mask=[0, 7, 0, 0, 5, 0, 0, 0]
            ),
        ],
        mode=mode,
    )


def test_halves_of_d(run_tensor):
    """D of 16 bits lies in the low halves of the words."""
    mask = [0, 0xFF, 0, 0]
    check(
        run_tensor,
        [
            Product("f16", half=True),
            Product("f16", half=True, adds=True, shift=2, mask=mask),
            Product("e4m3", "e2m1", half=True, adds=True, rows=64),
        ],
    )


@pytest.mark.parametrize("mode", ["eager", "adversarial"])
def test_stationary_products(run_tensor, mode):
    """Parts of the columns lie in parts of the lanes: the data paths E and G of the manual."""
    check(
        run_tensor,
        [
            Product("f16", stationary=True, rows=32, adds=True),
            Product("bf16", stationary=True, rows=64, columns=128, adds=True),
            Product("tf32", stationary=True, rows=128),
            Product("s8", "u8", stationary=True, rows=32, columns=256, adds=True),
            Product("e4m3", stationary=True, rows=64, a_in_tensor=True, half=True),
            Product("f16", stationary=True, rows=32, a_in_tensor=True),
        ],
        mode=mode,
    )


def test_zero_columns(run_tensor):
    """Fields: starts, first spans, columns with zeros, columns in use, shift."""
    check(
        run_tensor,
        [
            Product("f16", stationary=True, zeros=((0,), (0,), 3, 4, 0)),
            Product("f16", stationary=True, rows=64, zeros=((0, 0), (1, 0), 3, 4, 0)),
            Product("s8", stationary=True, rows=32, zeros=((0, 1, 2, 1), (1, 1, 0, 0), 3, 4, 2)),
            Product("tf32", stationary=True, adds=True, zeros=((5,), (1,), 7, 1, 16)),
        ],
    )


@pytest.mark.parametrize("mode", ["eager", "adversarial"])
def test_sparse_products(run_tensor, mode):
    check(
        run_tensor,
        [
            Product("f16", sparse=True, adds=True),
            Product("bf16", sparse=True, rows=64, columns=16),
            Product("tf32", sparse=True, a_in_tensor=True),
            Product("e4m3", "e2m1", sparse=True, half=True),
            Product("e2m3", sparse=True, rows=64, adds=True),
            Product("u8", "s8", sparse=True, columns=32),
            Product("f16", sparse=True, stationary=True, adds=True),
            Product("e4m3", kind="mxf8f6f4", vector=1, sparse=True),
            Product("e2m1", kind="mxf4", vector=2, sparse=True, adds=True),
            Product("e2m1", kind="mxf4nvf4", vector=4, scale="ue4m3", sparse=True),
        ],
        mode=mode,
    )


def test_sparse_products_of_pairs(run_tensor):
    check(
        run_tensor,
        [
            Product("f16", rows=256, blocks=2, sparse=True),
            Product("tf32", rows=128, blocks=2, sparse=True, columns=32, adds=True),
            Product("e4m3", rows=128, blocks=2, sparse=True, a_in_tensor=True),
        ],
    )


def test_terms_are_added_in_one_step(run_tensor):
    """A product of 2^24 removes the last bits of smaller products of the same instruction."""
    setup = Setup(Product("tf32", columns=8))
    a = np.zeros((128, 8))
    a[:, 0], a[:, 1:] = 2.0**12, 1
    b = np.zeros((8, 8))
    b[:, 0], b[:, 1:] = 2.0**12, 2.0**-2
    for n, (values, start) in enumerate(((a, 0), (b, B_AT))):
        data = np.ascontiguousarray(f32(values)).view(np.uint8)
        setup.descriptors[n] = place_matrix(setup.image[0], data, start, 0, 4)
    (memory,) = run_tensor([case_of(setup)])
    # terms keep 25 bits below the largest exponent: 7 / 4, then rounded toward zero to 24 bits
    expected = np.float32(2.0**24)
    assert (memory[0, :, :8].astype(np.uint32).view(np.float32) == expected).all()
