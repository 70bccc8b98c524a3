# SPDX-License-Identifier: Apache-2.0
"""Strided layouts: construction, properties, and derived layouts."""

import itertools

from cuda.core._layout import _StridedLayout as Layout


def facts(layout):
    numbers = layout.ndim, layout.itemsize, layout.volume, layout.slice_offset
    offsets = layout.slice_offset_in_bytes, layout.offset_bounds
    kinds = layout.is_contiguous_c, layout.is_contiguous_f, layout.is_contiguous_any
    order = layout.stride_order, layout.is_dense, layout.is_unique
    return layout.shape, layout.strides, layout.strides_in_bytes, numbers, offsets, kinds, order


def outcome(call):
    try:
        return call()
    except Exception as error:
        return f"raises {type(error).__name__}"


SHAPES = [
    (),
    (5,),
    (0,),
    (1,),
    (3, 4),
    (3, 0, 4),
    (1, 4, 1),
    (2, 3, 4),
    (1, 1),
    (2, 1, 3),
    (5, 5),
    (2, 2, 2),
]
STRIDES = [
    (),
    (-2,),
    (3,),
    (100,),
    (1, 3),
    (0, 4, 1),
    (7, 1, 9),
    (4, 8, 1),
    (-1, 5),
    (3, 77, -1),
    (0, 1),
    (4, 2, 1),
]


def all_pairs():
    pairs = [(a, b) for a in SHAPES for b in STRIDES if len(a) == len(b)]
    return [outcome(lambda p=pair: facts(Layout(*p, 4))) for pair in pairs]


def every_stride_order():
    return [facts(Layout.dense((2, 3, 4), 2, order)) for order in itertools.permutations(range(3))]


def slices_of_all():
    steps = (None, 1, 2, -1, -2, 7, -7)
    ends = (None, 0, 1, 4, -1, -3, 9, -9)
    layout = Layout((5,), (3,), 2)
    slices = []
    for start, stop, step in itertools.product(ends, ends, steps):
        each = layout[start:stop:step]
        slices.append((each.shape, each.strides, each.slice_offset))
    return slices


def reshapes_of_all():
    targets = [(), (24,), (2, 12), (-1,), (4, -1), (6, 4), (2, 3, 4), (4, 3, 2), (2, 2, 6), (1, 24)]
    targets += [(24, 1), (-1, -1), (5, -1), (-2, 12), (0,), (2, 3, 2, 2), (2, 1, 3, 1, 4), (23,)]
    sources = [C, F, C.permuted((1, 0, 2)), C[:, :, ::2], C[::-1], IMPLICIT, Layout((24,), (2,), 4)]
    return [outcome(lambda s=s, t=t: s.reshaped(t).strides) for s in sources for t in targets]


def flattened_of_all():
    sources = [C, F, C.permuted((1, 0, 2)), C[:, :, ::2], C[::-1], IMPLICIT, SCALAR, EMPTY]
    sources += [Layout((2, 1, 4), (4, 9, 1), 4), Layout((2, 3, 4), (0, 0, 0), 4), C[:, ::2]]
    ranges = [(0, -1), (0, 0), (1, -1), (0, 1), (1, 2), (-2, -1), (2, 1), (0, 3), (3, 3), (-4, 2)]
    return [
        outcome(lambda s=s, r=r: (s.flattened(*r).shape, s.flattened(*r).strides))
        for s in sources
        for r in ranges
    ]


def masks_of_all():
    sources = [C, F, C.permuted((1, 0, 2)), C[:, :, ::2], C[::-1], SCALAR, EMPTY, C[:, ::2]]
    return [outcome(lambda s=s: s.flattened_axis_mask()) for s in sources]


def flattened_by_masks():
    return [outcome(lambda m=m: C.flattened(mask=m).shape) for m in range(-1, 10)]


def squeezed_of_all():
    sources = [C, SCALAR, EMPTY, ONES, IMPLICIT, Layout((1, 4, 1), (7, 2, 9), 4)]
    return [outcome(lambda s=s: facts(s.squeezed())[:4]) for s in sources]


def unsqueezed_of_all():
    sources = [C, SCALAR, EMPTY, ONES, IMPLICIT, F[1:]]
    places = [0, 1, -1, 3, 4, (0, 1), (0, 2), (0, 0), (), (-1, -2), "a", 9, (0, 4), -5, (1, -4)]
    return [outcome(lambda s=s, p=p: facts(s.unsqueezed(p))[:5]) for s in sources for p in places]


def broadcasts_of_all():
    sources = [C, SCALAR, EMPTY, ONES, IMPLICIT, Layout((3, 1), (1, 5), 4), F[:, 1:]]
    shapes = [(), (2, 3, 4), (5, 2, 3, 4), (3, 7), (2, 3, 7), (1, 1), (0,), (3, 0), (4,), (9, 1, 1)]
    return [outcome(lambda s=s, t=t: facts(s.broadcast_to(t))[:5]) for s in sources for t in shapes]


def repacks_of_all():
    sources = [C, F, EMPTY, SCALAR, C[:, :, 1:], C[:, :, 2:], C[:, :, ::2], IMPLICIT]
    sources += [Layout((3, 8), (8, 1), 2), Layout((3, 8), (-8, 1), 2), Layout((6, 2), (1, 6), 2)]
    rows = itertools.product((1, 2, 4, 8, 16, 0, -4), (0, 4, 8, 24), (-1, 0, 5), (True, False))
    return [outcome(lambda s=s, r=row: facts(s.repacked(*r))[:5]) for row in rows for s in sources]


def largest_itemsizes_of_all():
    sources = [C, F, EMPTY, SCALAR, C[:, :, 1:], C[:, :, 2:], C[:, :, ::2], IMPLICIT]
    sources += [Layout((3, 8), (8, 1), 2), Layout((3, 8), (-8, 1), 2), Layout((6, 2), (1, 6), 2)]
    rows = itertools.product((16, 8, 4, 32, 12, 0), (0, 4, 8, 24), (-1, 0, 5))
    return [
        outcome(lambda s=s, r=row: s.max_compatible_itemsize(*r)) for row in rows for s in sources
    ]


def dense_of_all():
    sources = [C, F, C.permuted((1, 2, 0)), C[:, :, ::2], C[::-1], EMPTY, SCALAR, IMPLICIT, ONES]
    orders = ["C", "F", "K", (0, 1, 2), (2, 1, 0), [1, 0, 2], "X", (0, 0, 1), (0, 1), 3, None]
    return [outcome(lambda s=s, o=o: facts(s.to_dense(o))) for s in sources for o in orders]


def permutations_of_all():
    orders = [(0, 1, 2), (2, 0, 1), (-1, 0, 1), (0, 1), (0, 1, 1), (0, 1, 3), (0, -3, 1), [2, 1, 0]]
    return [outcome(lambda o=o: facts(F[1:].permuted(o))) for o in [*orders, "abc", 3, None]]


C = Layout.dense((2, 3, 4), 4)
F = Layout.dense((2, 3, 4), 4, "F")
IMPLICIT = Layout((2, 3, 4), None, 4)
SCALAR = Layout((), (), 4)
EMPTY = Layout((3, 0, 4), None, 4)
ONES = Layout((1, 1), (3, 5), 4)

CASES = [
    all_pairs,
    every_stride_order,
    slices_of_all,
    reshapes_of_all,
    flattened_of_all,
    masks_of_all,
    flattened_by_masks,
    squeezed_of_all,
    unsqueezed_of_all,
    broadcasts_of_all,
    repacks_of_all,
    largest_itemsizes_of_all,
    dense_of_all,
    permutations_of_all,
    lambda: facts(IMPLICIT),
    lambda: facts(EMPTY),
    lambda: facts(SCALAR),
    lambda: facts(ONES),
    lambda: repr(C),
    lambda: repr(IMPLICIT),
    lambda: repr(SCALAR),
    lambda: repr(C[1:]),
    lambda: repr(C[1, 2, 3]),
    lambda: repr(Layout((3,), (1,), 2)),
    lambda: str(C),
    lambda: Layout(3, None, 4),
    lambda: Layout([3], None, 4),
    lambda: Layout((3,), [1], 4),
    lambda: Layout((3,), None, 0),
    lambda: Layout((3,), None, -4),
    lambda: Layout((3,), None, 2**31),
    lambda: Layout((3,), None, 2**31 - 1).volume,
    lambda: Layout((3,), None, 1.0),
    lambda: Layout((3,), None, None),
    lambda: Layout((-1,), None, 4),
    lambda: Layout((3,), (1, 2), 4),
    lambda: Layout((3,), (), 4),
    lambda: Layout((1.5,), None, 4),
    lambda: Layout(("a",), None, 4),
    lambda: Layout((True,), (True,), 4).shape,
    lambda: Layout((3,), (1.5,), 4),
    lambda: Layout((3,), (None,), 4),
    lambda: Layout((3,), (8,), 4, True).strides,
    lambda: Layout((3,), (8,), 4, divide_strides=True).strides,
    lambda: Layout((3,), (-8,), 4, divide_strides=True).strides,
    lambda: Layout((3,), (6,), 4, True).strides,
    lambda: Layout((1,), (6,), 4, True).strides,
    lambda: Layout((0,), (6,), 4, True).strides,
    lambda: Layout((3,), None, 4, True).strides,
    lambda: Layout((1,) * 64, None, 4).ndim,
    lambda: Layout((1,) * 65, None, 4).ndim,
    lambda: Layout((2**62, 4), None, 4),
    lambda: Layout((2**62, 4), (0, 0), 4).volume,
    lambda: Layout((2**62, 2), (1, 1), 4).volume,
    lambda: Layout((2**63,), None, 4),
    lambda: Layout((2**62,), (4,), 4).volume,
    lambda: Layout((2**62,), (4,), 4).offset_bounds,
    lambda: Layout((2**40,), (2**40,), 4).max_offset,
    lambda: Layout((2**62,), None, 4).required_size_in_bytes(),
    lambda: Layout((2**62,), None, 1).required_size_in_bytes(),
    lambda: Layout((2,), (2**62,), 4).strides_in_bytes,
    lambda: Layout((2,), (-(2**63),), 1).strides_in_bytes,
    lambda: Layout((2,), (2**63,), 4),
    lambda: Layout((2**40, 2**40, 0), None, 4).volume,
    lambda: C.required_size_in_bytes(),
    lambda: C[1:].required_size_in_bytes(),
    lambda: C[::-1].required_size_in_bytes(),
    lambda: EMPTY.required_size_in_bytes(),
    lambda: SCALAR.required_size_in_bytes(),
    lambda: Layout((3,), (-1,), 4).required_size_in_bytes(),
    lambda: (C.min_offset, C.max_offset, EMPTY.min_offset, EMPTY.max_offset),
    lambda: Layout.dense((2, 3, 4), 4) == C,
    lambda: C == IMPLICIT,
    lambda: Layout((2, 3, 4), None, 4) == IMPLICIT,
    lambda: C[:] == C,
    lambda: Layout.dense((2, 3, 4), 2) == C,
    lambda: C[1:] == C[:1],
    lambda: C == F,
    lambda: C == 3,
    lambda: C != F,
    lambda: Layout((3, 0, 4), (0, 0, 0), 4) == EMPTY,
    lambda: Layout((1, 4), (7, 1), 4) == Layout((1, 4), (4, 1), 4),
    lambda: hash(C),
    lambda: C < F,
    lambda: C.to_dense() is C,
    lambda: C.to_dense("C") is C,
    lambda: F.to_dense() is F,
    lambda: F.to_dense("C") is F,
    lambda: IMPLICIT.to_dense() is IMPLICIT,
    lambda: IMPLICIT.to_dense("C") is IMPLICIT,
    lambda: Layout.dense_like(C) is C,
    lambda: Layout.dense_like(C[:, ::2]).strides,
    lambda: Layout.dense_like(F[::-1]).strides,
    lambda: Layout.dense_like(IMPLICIT).strides,
    lambda: Layout.dense_like(3),
    lambda: C.squeezed() is C,
    lambda: C.unsqueezed(()) is C,
    lambda: C.repacked(4) is C,
    lambda: C.broadcast_to((2, 3, 4)) is C,
    lambda: C.reshaped((2, 3, 4)) is C,
    lambda: C.permuted((0, 1, 2)) is C,
    lambda: C.flattened(0, 0) is C,
    lambda: Layout.dense((2, 3), 4, "F").strides,
    lambda: Layout.dense((2, 3), 4, "K").strides,
    lambda: Layout.dense((2, 3), 4, "c").strides,
    lambda: Layout.dense((2, 3), 4, (-1, 0)).strides,
    lambda: Layout.dense((2, 3), 4, (0, 2)).strides,
    lambda: Layout.dense((2, 3), 4, (0,)).strides,
    lambda: Layout.dense((2, 3), 4, None).strides,
    lambda: Layout.dense((2, 0, 3), 4).strides,
    lambda: Layout.dense((), 4).strides,
    lambda: Layout.dense((2, 3), 0),
    lambda: Layout.dense([2, 3], 4).strides,
    lambda: Layout.dense((-2, 3), 4),
    lambda: Layout.dense((2**62, 4), 4),
    lambda: facts(C[1]),
    lambda: facts(C[-1]),
    lambda: facts(C[1, 2]),
    lambda: facts(C[1, 2, 3]),
    lambda: facts(C[:, 1]),
    lambda: facts(C[:, ::-1]),
    lambda: facts(C[1:1]),
    lambda: facts(C[()]),
    lambda: facts(C.sliced(1)),
    lambda: facts(C.sliced((slice(None), 1))),
    lambda: facts(IMPLICIT[1]),
    lambda: facts(IMPLICIT[:]),
    lambda: facts(C[1:][0]),
    lambda: facts(EMPTY[1]),
    lambda: facts(EMPTY[:, 0:0]),
    lambda: EMPTY[:, 0],
    lambda: SCALAR[0],
    lambda: facts(SCALAR[()]),
    lambda: C[2],
    lambda: C[-3],
    lambda: C[2**70],
    lambda: C[0, 0, 0, 0],
    lambda: C[:, :, :, :],
    lambda: C["a"],
    lambda: C[1.5],
    lambda: C[[0]],
    lambda: C[True].shape,
    lambda: C[::0],
    lambda: C["a":],
    lambda: C[:: 2**70].shape,
    lambda: C[...],
    lambda: C[None],
    lambda: C.__reduce__(),
    lambda: len(C),
    lambda: list(Layout((2,), (1,), 4)),
    lambda: setattr(C, "shape", (1,)),
    lambda: setattr(C, "thing", 1),
]
