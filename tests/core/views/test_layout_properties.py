# SPDX-License-Identifier: Apache-2.0
"""Layouts against a NumPy model, for random shapes and operations."""

import itertools

import numpy as np
import pytest
from cuda.core._layout import _StridedLayout as Layout
from hypothesis import given, settings
from hypothesis import strategies as st

from .strategies import ITEMSIZE, elements, numbered, shapes, viewed

settings.register_profile("layouts", deadline=None, max_examples=200)
settings.load_profile("layouts")


def same(layout, memory, array):
    assert layout.shape == array.shape
    assert np.array_equal(elements(layout, memory), array)


def offsets_of(layout):
    """Return the offset of each element."""
    strides = layout.strides or ()
    return [
        layout.slice_offset + sum(i * s for i, s in zip(index, strides, strict=True))
        for index in itertools.product(*map(range, layout.shape))
    ]


@given(viewed())
def test_slices_and_permutations_select_the_elements_of_numpy(example):
    memory, array, layout = example
    same(layout, memory, array)


@given(viewed())
def test_properties_match_numpy_and_the_offsets(example):
    _, array, layout = example
    assert layout.ndim == array.ndim
    assert layout.volume == array.size
    assert layout.is_contiguous_c == array.flags.c_contiguous
    assert layout.is_contiguous_f == array.flags.f_contiguous
    offsets = offsets_of(layout)
    assert layout.offset_bounds == ((min(offsets), max(offsets)) if offsets else (0, -1))
    assert layout.is_unique == (len(set(offsets)) == len(offsets))
    is_filled = sorted(offsets) == list(
        range(min(offsets, default=0), max(offsets, default=-1) + 1)
    )
    if layout.is_contiguous_any:
        assert is_filled
    if is_filled and all(stride >= 0 for stride in layout.strides):
        assert layout.is_contiguous_any
    assert layout.is_dense == (layout.is_contiguous_any and layout.slice_offset == 0)


@given(shapes, st.data())
def test_is_unique_is_true_only_without_shared_elements(shape, data):
    strides = tuple(data.draw(st.integers(-9, 9)) for _ in shape)
    layout = Layout(shape, strides, ITEMSIZE)
    offsets = offsets_of(layout)
    if layout.is_unique:
        assert len(set(offsets)) == len(offsets)
    assert layout.offset_bounds == ((min(offsets), max(offsets)) if offsets else (0, -1))


@given(viewed(), shapes, st.booleans())
def test_a_reshape_without_a_copy_in_numpy_is_possible(example, shape, leaves_one_open):
    memory, array, layout = example
    if leaves_one_open and shape:
        shape = (-1, *shape[1:])
    try:
        expected = array.reshape(shape)
    except ValueError:
        with pytest.raises(ValueError):
            layout.reshaped(shape)
        return
    if array.size and not np.shares_memory(expected, array):
        with pytest.raises(ValueError, match="incompatible"):
            layout.reshaped(shape)
    else:
        same(layout.reshaped(shape), memory, expected)


@given(viewed())
def test_flattening_preserves_the_elements_and_merges_all_it_can(example):
    memory, array, layout = example
    flat = layout.flattened()
    assert np.array_equal(elements(flat, memory).ravel(), array.ravel())
    assert flat.flattened_axis_mask() == 0 or flat.volume == 0
    if array.size and array.flags.c_contiguous:
        assert layout.squeezed().flattened().ndim == 1


@given(viewed(), st.integers(0, 63))
def test_masks_of_two_layouts_can_be_combined(example, mask):
    memory, array, layout = example
    flat = layout.flattened(mask=mask)
    merged = bin(mask & layout.flattened_axis_mask()).count("1")
    assert flat.ndim == max(layout.ndim - merged, 1)
    assert np.array_equal(elements(flat, memory).ravel(), array.ravel())


@given(viewed())
def test_squeezing_behaves_as_in_numpy(example):
    memory, array, layout = example
    if array.size:
        same(layout.squeezed(), memory, array.squeeze())
    else:
        assert layout.squeezed().shape == (0,)


@given(viewed(), st.data())
def test_unsqueezing_behaves_as_in_numpy(example, data):
    memory, array, layout = example
    count = data.draw(st.integers(1, 3))
    total = array.ndim + count
    numbers = st.integers(-total, total - 1)
    axes = tuple(data.draw(st.lists(numbers, min_size=count, max_size=count)))
    try:
        expected = np.expand_dims(array, axes)
    except ValueError:
        with pytest.raises(ValueError, match="multiple times"):
            layout.unsqueezed(axes)
        return
    same(layout.unsqueezed(axes), memory, expected)


@given(viewed(), shapes)
def test_broadcasting_behaves_as_in_numpy(example, shape):
    memory, array, layout = example
    try:
        expected = np.broadcast_to(array, shape)
    except ValueError:
        with pytest.raises(ValueError, match="cannot be broadcast"):
            layout.broadcast_to(shape)
        return
    same(layout.broadcast_to(shape), memory, expected)


@given(viewed(), st.sampled_from(["C", "F", "K"]))
def test_to_dense_has_the_order_of_a_numpy_copy(example, order):
    _, array, layout = example
    dense = layout.to_dense(order)
    assert dense.is_dense
    assert dense.shape == layout.shape
    if not array.size or any(stride < 0 for stride in array.strides):
        return  # NumPy preserves neither strides of empty arrays nor directions
    expected = np.array(array, order=order, copy=True).strides
    for extent, stride, expected_stride in zip(
        array.shape, dense.strides_in_bytes, expected, strict=True
    ):
        assert extent == 1 or stride == expected_stride


@given(shapes, st.permutations(range(5)))
def test_dense_layouts_have_the_requested_order(shape, axes):
    order = tuple(axis for axis in axes if axis < len(shape))
    layout = Layout.dense(shape, ITEMSIZE, order)
    memory = numbered(tuple(shape[axis] for axis in order))
    assert np.array_equal(
        elements(layout, memory.ravel()), memory.transpose(tuple(np.argsort(order)))
    )


@given(viewed(), st.sampled_from([1, 2, 4, 8, 16]), st.sampled_from([0, 4, 8, 16]))
def test_repacking_selects_the_same_bytes(example, itemsize, start):
    _, _, layout = example
    try:
        packed = layout.repacked(itemsize, start)
    except ValueError:
        return  # the cases are asserted below
    bounds = layout.offset_bounds
    assert packed.itemsize == itemsize
    assert packed.volume * itemsize == layout.volume * ITEMSIZE
    if layout.volume:
        assert packed.min_offset * itemsize == bounds[0] * ITEMSIZE
        assert (packed.max_offset + 1) * itemsize == (bounds[1] + 1) * ITEMSIZE
        assert packed.repacked(ITEMSIZE, start).shape == layout.shape
        assert packed.repacked(ITEMSIZE, start).offset_bounds == bounds


@given(viewed(), st.sampled_from([4, 8, 16, 32, 64]), st.sampled_from([0, 4, 8, 16]))
def test_the_largest_itemsize_is_the_largest_accepted_one(example, limit, start):
    _, _, layout = example
    if layout.ndim == 0:
        with pytest.raises(ValueError, match="out of range"):
            layout.max_compatible_itemsize(limit, start)
        return
    itemsize = layout.max_compatible_itemsize(limit, start)
    assert layout.repacked(itemsize, start).itemsize == itemsize
    for larger in (8, 16, 32, 64):
        if itemsize < larger <= limit:
            with pytest.raises(ValueError):
                layout.repacked(larger, start)


@given(viewed())
def test_the_required_size_reaches_to_the_last_element(example):
    _, _, layout = example
    assert layout.required_size_in_bytes() == (layout.max_offset + 1) * ITEMSIZE
