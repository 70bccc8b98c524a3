# SPDX-License-Identifier: Apache-2.0
"""A view as a kernel takes it whose parameter is a ``cuda::std::mdspan``: the bytes of that object.

libcu++ stores an address, then those extents that its type leaves open, then, for
``layout_stride``, all strides, each in the index type and none with padding before it; the whole
is padded to a multiple of eight bytes. Accessors without state take no room.
"""

import struct

LAYOUTS = ("right", "left", "stride")
_FORMATS = dict(
    zip(
        ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        "bhiqBHIQ",
        strict=True,
    )
)


class Mdspan:
    """A kernel argument for a parameter of type ``cuda::std::mdspan``, made by `as_mdspan`.

    Host only. Keeps the view alive. It may be passed to any number of launches.

    Attributes
    ----------
    view : StridedMemoryView
    layout : str
    index_type : str
    strides : tuple of int
        In elements, as the kernel sees them.
    nbytes : int
        The size of the parameter, in bytes.
    """

    __slots__ = ("_address_of", "_numbers", "index_type", "layout", "strides", "view")

    def __init__(self, view, layout, index_type, strides, numbers, address_of):
        self.view = view
        self.layout = layout
        self.index_type = index_type
        self.strides = strides
        self._address_of = address_of
        self._numbers = numbers  # what follows the address

    @property
    def nbytes(self):
        """The size of the parameter, in bytes."""
        return 8 + len(self._numbers)

    def __cuda_kernel_arg__(self):
        # Asked at each launch: the memory may have been given back.
        return struct.pack("<Q", self._address_of(self.view)) + self._numbers

    def __repr__(self):
        return (
            f"<Mdspan shape={self.view.shape} strides={self.strides} layout={self.layout!r} "
            f"index_type={self.index_type!r} nbytes={self.nbytes}>"
        )


def make_mdspan(view, layout, index_type, extents, address_of):
    """The argument; `StridedMemoryView.as_mdspan` says what is refused.

    `address_of` gives the address of a view, or raises where its memory was given back.
    """
    if layout not in LAYOUTS:
        raise ValueError(f"layout must be one of {', '.join(LAYOUTS)}, got {layout!r}")
    form = _format_of(index_type)
    if not view.is_device_accessible:
        raise ValueError("the view is of memory that is not device-accessible")
    shape = view.shape
    strides = _strides(view)
    dynamic = _dynamic_extents(shape, extents)
    _check_layout(view, layout, strides)
    _check_range(form, shape, strides)
    numbers = (*dynamic, *strides) if layout == "stride" else dynamic
    packed = struct.pack(f"<{len(numbers)}{form}", *numbers)
    packed += bytes(-len(packed) % 8)
    name = next(name for name, known in _FORMATS.items() if known == form)
    return Mdspan(view, layout, name, strides, packed, address_of)


def _format_of(index_type):
    name = index_type if isinstance(index_type, str) else getattr(index_type, "name", None)
    name = name if isinstance(name, str) else getattr(index_type, "__name__", None)
    if name not in _FORMATS:
        raise ValueError(f"index_type must be one of {', '.join(_FORMATS)}, got {index_type!r}")
    return _FORMATS[name]


def _strides(view):
    """Strides in elements; of axes with one index or none, what C order has, since any will do."""
    shape, given = view.shape, view.strides
    is_empty = 0 in shape
    made = []
    step = 1
    for axis in reversed(range(len(shape))):
        is_free = given is None or is_empty or shape[axis] <= 1
        made.append(step if is_free else given[axis])
        step *= max(shape[axis], 1)
    return tuple(reversed(made))


def _dynamic_extents(shape, extents):
    if extents is None:
        return shape
    if len(extents) != len(shape):
        raise ValueError(f"extents must have {len(shape)} elements, got {extents!r}")
    for axis, (wanted, found) in enumerate(zip(extents, shape, strict=True)):
        if wanted is not None and wanted != found:
            raise ValueError(f"extents[{axis}] is {wanted}, but the view has {found} there")
    return tuple(n for n, wanted in zip(shape, extents, strict=True) if wanted is None)


def _check_layout(view, layout, strides):
    is_as_wanted = {
        "right": lambda: view.is_contiguous_c,
        "left": lambda: view.is_contiguous_f,
        "stride": lambda: all(stride > 0 for stride in strides),
    }
    if is_as_wanted[layout]():
        return
    if layout == "stride":
        raise ValueError(f"layout_stride has positive strides only, got {strides}")
    raise ValueError(
        f"layout_{layout} does not describe shape {view.shape} with strides {strides} (in "
        "elements): take layout='stride', here and in the kernel, or copy the data"
    )


def _check_range(form, shape, strides):
    """All numbers, and the distance of the first element from the end of the last."""
    span = 0 if 0 in shape else 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
    largest = (1 << (8 * struct.calcsize(f"<{form}") - form.islower())) - 1
    if max((span, *shape, *strides)) > largest:
        raise OverflowError(
            f"shape {shape} with strides {strides} does not fit an index type of at most {largest}"
        )
