# SPDX-License-Identifier: Apache-2.0
"""Random layouts, paired with NumPy arrays of the same extents and strides."""

import numpy as np
from cuda.core._layout import _StridedLayout as Layout
from hypothesis import strategies as st

ITEMSIZE = 4

shapes = st.lists(st.integers(0, 4), max_size=5).map(tuple)


def layout_of(array, base):
    """Return the layout of an array in the memory that starts at `base`."""
    strides = tuple(stride // ITEMSIZE for stride in array.strides)
    layout = Layout(array.shape, strides, ITEMSIZE)
    offset = address(array) - address(base)
    return layout, offset // ITEMSIZE


def address(array):
    return array.__array_interface__["data"][0]


def numbered(shape):
    """Return a dense array whose elements are their offsets."""
    return np.arange(np.prod(shape, dtype=int), dtype=np.int32).reshape(shape)


def elements(layout, memory):
    """Return the elements that a layout selects from one-dimensional memory, by NumPy."""
    strides = layout.strides_in_bytes
    if strides is None:
        strides = layout.reshaped(layout.shape).strides_in_bytes
    start = memory[layout.slice_offset :] if layout.volume else memory[:0]
    return np.lib.stride_tricks.as_strided(start, layout.shape, strides)


@st.composite
def keys(draw, shape):
    """A subscript that NumPy accepts for an array of that shape."""
    entries = []
    for extent in shape[: draw(st.integers(0, len(shape)))]:
        choices = [st.slices(extent)]
        if extent:
            choices.append(st.integers(-extent, extent - 1))
        entries.append(draw(st.one_of(choices)))
    if draw(st.booleans()):
        entries.insert(draw(st.integers(0, len(entries))), None)
    if draw(st.booleans()):
        place = draw(st.integers(0, len(entries)))
        tail = [entry for entry in entries[place:] if entry is not None]
        # Entries after an Ellipsis apply to the last axes, whose extents differ.
        fitting = [
            slice(None) if isinstance(entry, slice) or not shape[len(shape) - len(tail) + i] else 0
            for i, entry in enumerate(tail)
        ]
        entries[place:] = [..., *fitting]
    return tuple(entries)


@st.composite
def viewed(draw):
    """Memory of numbered elements, a layout over it, and the equivalent NumPy array."""
    shape = draw(shapes)
    memory = numbered((int(np.prod(shape)),))
    array = memory.reshape(shape)
    layout = Layout.dense(shape, ITEMSIZE)
    for _ in range(draw(st.integers(0, 3))):
        if draw(st.booleans()):
            order = tuple(draw(st.permutations(range(array.ndim))))
            array, layout = array.transpose(order), layout.permuted(order)
        else:
            key = draw(keys(array.shape))
            if None in key and array.ndim > 5:
                continue
            array, layout = array[key], layout[key]
    return memory, np.asarray(array), layout
