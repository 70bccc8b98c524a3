# SPDX-License-Identifier: Apache-2.0
"""_StridedLayout: refusals, identity of results, and its numbers."""

import copy
import gc
import weakref

import pytest
from cuda.core._layout import _StridedLayout as Layout

C = Layout.dense((2, 3, 4), 4)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        (((-1,), None, 4), ValueError, "Extents must be non-negative"),
        (((3,), (1, 2), 4), ValueError, "must have the same length"),
        (((3,), (6,), 4, True), ValueError, "strides must be divisible by itemsize"),
        (((3,), None, 0), ValueError, "itemsize must be positive"),
        (((3,), None, -1), ValueError, "itemsize must be positive"),
        (((1,) * 65, None, 4), ValueError, "Max supported ndim is 64"),
        (((1,) * 5000, None, 4), ValueError, "Max supported ndim is 64"),
        (([3], None, 4), TypeError, "expected tuple, got list"),
        (((3,), [1], 4), TypeError, "expected tuple or None, got list"),
        (((1.5,), None, 4), TypeError, "float"),
        (((2**63,), None, 4), OverflowError, "too large|too big"),
        (((3,), None, 2**40), OverflowError, "2\\*\\*31"),
    ],
)
def test_what_makes_no_layout_is_refused(arguments, error, text):
    with pytest.raises(error, match=text):
        Layout(*arguments)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: C.reshaped((5,)), "must be equal"),
        (lambda: C.reshaped((5, -1)), "must be divisible"),
        (lambda: C[:, ::2].reshaped((16,)), "incompatible"),
        (lambda: C.reshaped((-1, -1)), "at most one -1"),
        (lambda: C.reshaped((1,) * 3000), "Max supported ndim"),
        (lambda: C.permuted((0,)), "same length"),
        (lambda: C.permuted((0, 0, 1)), "appears multiple times"),
        (lambda: C.permuted((0, 1) * 3000), "same length"),
        (lambda: C.unsqueezed(tuple(range(3000))), "Max supported ndim"),
        (lambda: C.broadcast_to((1,) * 3000), "Max supported ndim"),
        (lambda: C[5], "Invalid index: 5 out of range for axis 0 with extent 2"),
        (lambda: C[0, 0, 0, 0], "greater than the number of dimensions"),
        (lambda: C[..., ...], "at most one Ellipsis"),
        (lambda: C[(None,) * 100], "at most 64 new axes"),
        (lambda: C[(None,) * 62], "Max supported ndim"),
        (lambda: Layout.dense((2, 3), 4, "X"), "must be 'C', 'F'"),
        (lambda: Layout.dense((2, 3), 4, (0, 1) * 3000), "same length"),
        (lambda: C.repacked(6), "a multiple or a divisor"),
        (lambda: C.repacked(32), "must be divisible by 8"),
        (lambda: C.repacked(8, 4), "must be aligned"),
        (lambda: C.repacked(2**40), "less than 2\\*\\*31"),
        (lambda: C.repacked(0), "greater than zero, and less than 2\\*\\*31, got 0"),
        (lambda: C.max_compatible_itemsize(0), "max_itemsize must be greater than zero, got 0"),
        (lambda: C.max_compatible_itemsize(3), r"max_itemsize \(3\) cannot be less than .* \(4\)"),
        (lambda: Layout((3,), (-1,), 4).required_size_in_bytes(), "before its beginning"),
    ],
)
def test_an_impossible_conversion_is_refused(call, text):
    with pytest.raises(ValueError, match=text):
        call()


@pytest.mark.parametrize("key", ["a", 1.5, [0], {}, b"x"])
def test_other_subscripts_are_refused_by_type(key):
    with pytest.raises(TypeError, match="Invalid slice"):
        C[key]


@pytest.mark.parametrize(
    "call",
    [
        lambda: Layout((2**62, 4), (0, 0), 4).volume,
        lambda: Layout((2**62, 4), None, 4).reshaped((-1,)),
        lambda: Layout((2**62,), (4,), 4).max_offset,
        lambda: Layout((2,), (2**62,), 4).strides_in_bytes,
        lambda: Layout((2**62,), None, 4).required_size_in_bytes(),
        lambda: Layout((4, 2**62), (1, 4), 4)[3, 2**62 - 1],
        lambda: Layout((3,), (2**62,), 4).unsqueezed(0),
        lambda: Layout((2**62,), (1,), 4).repacked(1),
        lambda: Layout((2, 4), (2**62, 1), 4).repacked(1),
        lambda: Layout((5,), (2**61,), 4)[::4].shape and Layout((9,), (2**61,), 4)[::4],
        lambda: Layout.dense((2**62, 4), 4),
    ],
)
def test_numbers_of_more_than_64_bits_are_an_overflow(call):
    with pytest.raises(OverflowError):
        call()


def test_the_smallest_number_is_an_ordinary_stride():
    layout = Layout((1, 2), (-(2**63), 1), 1)
    assert layout.stride_order == (0, 1)
    assert layout.is_unique
    assert layout.strides_in_bytes == (-(2**63), 1)


def test_a_step_beyond_the_end_leaves_one_element():
    layout = Layout((5,), (3,), 4)[:: 2**62]
    assert layout.shape == (1,)
    assert layout.slice_offset == 0


def test_none_and_ellipsis_behave_as_in_numpy():
    assert C[None, ..., 0].shape == (1, 2, 3)
    assert C[..., None].shape == (2, 3, 4, 1)
    assert C[0, ...] == C[0]
    assert (C[1, ..., 2].slice_offset, C[1, ..., 2].slice_offset_in_bytes) == (14, 56)
    assert Layout((), (), 4)[...].shape == ()


def test_layouts_without_strides_are_distinct():
    implicit = Layout((2, 3, 4), None, 4)
    assert implicit != C
    assert implicit == Layout((2, 3, 4), None, 4)
    assert implicit.strides is None
    assert implicit.strides_in_bytes is None
    assert implicit[:].strides == (12, 4, 1)


def test_unchanged_layouts_are_not_copied():
    assert C.to_dense() is C
    assert Layout.dense_like(C) is C
    assert C.repacked(4) is C
    assert C.unsqueezed(()) is C
    assert C.to_dense("F") is not C


@pytest.mark.parametrize("itemsize", [13, 7, 9])
def test_the_largest_itemsize_is_never_below_the_present_one(itemsize):
    """The reference returns 1 here, and would then create an invalid layout."""
    layout = Layout((12,), (1,), 4)
    result = layout.max_compatible_itemsize(itemsize)
    assert result == 4
    assert layout.repacked(result) is layout


def test_a_packed_axis_of_one_element_may_be_removed():
    layout = Layout((3, 2, 5), (12, 1, 2), 4)
    for keeps, shape, strides in ((True, (3, 1, 5), (6, 1, 1)), (False, (3, 5), (6, 1))):
        result = layout.repacked(8, 0, 1, keeps)
        assert (result.shape, result.strides, result.itemsize) == (shape, strides, 8)
    assert layout[1:].repacked(8, 0, 1, False).slice_offset == 6
    longer = Layout((3, 4), (4, 1), 4).repacked(8, 0, 1, False)
    assert longer.shape == (3, 2)  # two elements remain
    same = Layout((3, 1), (1, 1), 8).repacked(4, 0, 1, False)
    assert same.shape == (3, 2)


def test_axes_of_several_sources_are_divided_and_joined():
    layout = Layout((4, 1, 6), (100, 1, 2), 4)
    assert layout.reshaped((2, 2, 3, 2)).strides == (200, 100, 4, 2)
    assert layout.reshaped((4, 3, 1, 2)).strides == (100, 4, 4, 2)
    assert layout.reshaped((2, -1, 6)).strides == (200, 100, 2)
    with pytest.raises(ValueError, match="incompatible"):
        layout.reshaped((3, 8))


def test_as_many_indices_as_axes_are_allowed():
    assert C[1, 2, 3].shape == ()
    assert C[1, 2, 3, None].shape == (1,)
    assert C[..., 1, 2, 3].slice_offset == 23


def test_it_is_immutable_unhashable_and_neither_copied_nor_pickled():
    with pytest.raises(AttributeError):
        C.shape = (1,)
    with pytest.raises(TypeError):
        hash(C)
    with pytest.raises(TypeError, match="cannot pickle"):
        copy.copy(C)
    with pytest.raises(TypeError):
        weakref.ref(C)


def test_its_text_includes_a_nonzero_offset():
    assert repr(C) == "_StridedLayout(shape=(2, 3, 4), strides=(12, 4, 1), itemsize=4)"
    assert repr(C[1, 2, 3]).endswith("strides=(), itemsize=4, _slice_offset=23)")


def test_an_index_that_shrinks_its_list_reads_no_other_memory():
    class Shrinking:
        def __index__(self):
            gc.collect()
            return 1

    layout = Layout(tuple(Shrinking() for _ in range(64)), None, 4)
    assert layout.shape == (1,) * 64


def test_many_dimensions_are_stored_separately_from_their_source():
    layout = Layout.dense((2,) * 20, 1)
    layouts = [layout[(slice(None),) * i + (1,)] for i in range(20)]
    del layout
    gc.collect()
    assert [other.slice_offset for other in layouts] == [2 ** (19 - i) for i in range(20)]
    assert {other.shape for other in layouts} == {(2,) * 19}


def test_a_layout_equals_layouts_alone():
    assert C != 3 and (C == "x") is False
    assert repr(Layout.__new__(Layout)) == "<_StridedLayout>"
    assert repr(C[1, ..., 2]).endswith(", itemsize=4, _slice_offset=14)")


@pytest.mark.parametrize(
    "key", [slice(1, 1), slice(2, 1), slice(5, None), (slice(None), slice(2, 2))]
)
def test_an_empty_slice_stays_at_the_start_without_strides(key):
    layout = Layout((3, 4), (8, 2), 4)[key]
    assert 0 in layout.shape
    assert layout.strides == (0, 0)
    assert layout.slice_offset == 0
