# SPDX-License-Identifier: Apache-2.0
"""Conversion of a view to a kernel argument of type ``cuda::std::mdspan``, as bytes.

libcu++ stores an address, then the dynamic extents, and for ``layout_stride`` all strides. Extents
and strides have the index type and no padding between them. The object is padded to a multiple of
eight bytes. Stateless accessors need no storage.
"""

import struct
import sys

from cuda.core.arguments.shown import shown

LAYOUTS = ("right", "left", "stride")
_FORMATS = dict(
    zip(
        ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        "bhiqBHIQ",
        strict=True,
    )
)


class Mdspan:
    """A kernel argument for a parameter of type ``cuda::std::mdspan``, created by `as_mdspan`.

    Host only. It retains the view, and can be passed to any number of launches.

    Attributes
    ----------
    view : StridedMemoryView
    layout : str
    index_type : str
    strides : tuple of int
        Strides in elements, as in the kernel.
    nbytes : int
        Size of the parameter in bytes.
    """

    __slots__ = ("_address_of", "_numbers", "index_type", "layout", "strides", "view")

    def __init__(self, view, layout, index_type, strides, numbers, address_of):
        self.view = view
        self.layout = layout
        self.index_type = index_type
        self.strides = strides
        self._address_of = address_of
        self._numbers = numbers  # bytes after the address

    @property
    def nbytes(self):
        """Size of the parameter in bytes."""
        return 8 + len(self._numbers)

    def __cuda_kernel_arg__(self):
        # The address is queried at each launch, since the memory may have been freed.
        return struct.pack("<Q", self._address_of(self.view)) + self._numbers

    def __repr__(self):
        return (
            f"<Mdspan shape={self.view.shape} strides={self.strides} layout={self.layout!r} "
            f"index_type={self.index_type!r} nbytes={self.nbytes}>"
        )


def make_mdspan(view, layout, index_type, extents, address_of):
    """Return the argument; `StridedMemoryView.as_mdspan` documents the restrictions.

    `address_of` returns the address of a view, or raises if its memory was freed.
    """
    if layout not in LAYOUTS:
        raise ValueError(f"layout must be one of {', '.join(LAYOUTS)}, got {shown(layout)}")
    form = _format_of(index_type)
    if not view.is_device_accessible:
        raise ValueError("the memory of the view is not device-accessible")
    shape = view.shape
    strides = _strides(view)
    dynamic = _dynamic_extents(shape, extents)
    _check_layout(view, layout, strides)
    _check_range(form, shape, strides)
    numbers = (*dynamic, *strides) if layout == "stride" else dynamic
    packed = struct.pack(f"<{len(numbers)}{form}", *numbers)
    packed += bytes(-len(packed) % 8)
    name = next(name for name, code in _FORMATS.items() if code == form)
    return Mdspan(view, layout, name, strides, packed, address_of)


def _format_of(index_type):
    name = index_type if isinstance(index_type, str) else _dtype_name(index_type)
    if name not in _FORMATS:
        raise ValueError(
            f"index_type must be one of {', '.join(_FORMATS)}, got {shown(index_type)}"
        )
    return _FORMATS[name]


def _dtype_name(index_type):
    """Return the name of a NumPy dtype or scalar type, else None."""
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return None
    if isinstance(index_type, type) and issubclass(index_type, numpy.generic):
        index_type = numpy.dtype(index_type)
    return index_type.name if isinstance(index_type, numpy.dtype) else None


def _strides(view):
    """Return strides in elements; axes of at most one index get the stride of C order."""
    shape, strides = view.shape, view.strides
    is_empty = 0 in shape
    result = []
    step = 1
    for axis in reversed(range(len(shape))):
        is_free = strides is None or is_empty or shape[axis] <= 1
        result.append(step if is_free else strides[axis])
        step *= max(shape[axis], 1)
    return tuple(reversed(result))


def _dynamic_extents(shape, extents):
    if extents is None:
        return shape
    if len(extents) != len(shape):
        raise ValueError(f"extents must have {len(shape)} elements, got {shown(extents)}")
    for axis, extent in enumerate(extents):
        if extent is not None and extent != shape[axis]:
            raise ValueError(f"extents[{axis}] is {extent}, but the view has {shape[axis]}")
    return tuple(shape[axis] for axis, extent in enumerate(extents) if extent is None)


def _check_layout(view, layout, strides):
    is_described = {
        "right": lambda: view.is_contiguous_c,
        "left": lambda: view.is_contiguous_f,
        "stride": lambda: all(stride > 0 for stride in strides),
    }
    if is_described[layout]():
        return
    if layout == "stride":
        raise ValueError(f"layout_stride requires positive strides, got {strides}")
    raise ValueError(
        f"layout_{layout} does not describe shape {view.shape} with strides {strides} (in "
        "elements): use layout='stride', also in the kernel, or copy the data"
    )


def _check_range(form, shape, strides):
    """Check that the index type can represent all numbers and the span of the elements."""
    span = 0 if 0 in shape else 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
    largest = (1 << (8 * struct.calcsize(f"<{form}") - form.islower())) - 1
    if max((span, *shape, *strides)) > largest:
        raise OverflowError(
            f"shape {shape} with strides {strides} does not fit an index type of at most {largest}"
        )
