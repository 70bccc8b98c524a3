# SPDX-License-Identifier: Apache-2.0
"""TensorMapDescriptorOptions and its enumerations."""

from dataclasses import dataclass
from enum import IntEnum
from importlib import import_module
from math import gcd
from operator import index
from typing import Any

from cuda.core.arguments.shown import shown


class TensorMapDataType(IntEnum):
    """Element type of a tensor map."""

    UINT8 = 0
    UINT16 = 1
    UINT32 = 2
    INT32 = 3
    UINT64 = 4
    INT64 = 5
    FLOAT16 = 6
    FLOAT32 = 7
    FLOAT64 = 8
    BFLOAT16 = 9
    FLOAT32_FTZ = 10
    TFLOAT32 = 11
    TFLOAT32_FTZ = 12


class TensorMapInterleave(IntEnum):
    """Interleaving of channels in memory."""

    NONE = 0
    INTERLEAVE_16B = 1
    INTERLEAVE_32B = 2


class TensorMapSwizzle(IntEnum):
    """Swizzling of rows in shared memory."""

    NONE = 0
    SWIZZLE_32B = 1
    SWIZZLE_64B = 2
    SWIZZLE_128B = 3


class TensorMapL2Promotion(IntEnum):
    """Size of a fetch into the L2 cache."""

    NONE = 0
    L2_64B = 1
    L2_128B = 2
    L2_256B = 3


class TensorMapOOBFill(IntEnum):
    """Fill value outside the tensor: zeros, or a NaN that FMA treats as zero."""

    NONE = 0
    NAN_REQUEST_ZERO_FMA = 1


class TensorMapIm2ColWideMode(IntEnum):
    """Mode of a wide im2col copy."""

    W = 0
    W128 = 1


_ENUMS = {
    "interleave": TensorMapInterleave,
    "swizzle": TensorMapSwizzle,
    "l2_promotion": TensorMapL2Promotion,
    "oob_fill": TensorMapOOBFill,
}


def member(name: str, value: object, cls: type[IntEnum]) -> IntEnum:
    """Return the member of an enumeration for the member itself or its name."""
    if isinstance(value, cls):
        return value
    if isinstance(value, str) and value in cls.__members__:
        return cls[value]
    raise TypeError(
        f"{name} must be a {cls.__name__}, or the name of one ({', '.join(cls.__members__)}), got "
        f"{shown(value)} of {type(value)}"
    )


def integers(name: str, value: Any) -> tuple[int, ...]:
    """Return a sequence of integers as a tuple."""
    try:
        entries = tuple(value)
    except TypeError:
        raise TypeError(f"{name} must be a tuple of ints, got {type(value)}") from None
    for position, entry in enumerate(entries):
        if isinstance(entry, str) or not hasattr(type(entry), "__index__"):
            raise TypeError(f"{name}[{position}] must be an int, got {type(entry)}")
    return tuple(index(entry) for entry in entries)


def in_range(name: str, number: int, least: int, most: int) -> int:
    """Return the number if the driver's type for it can hold it."""
    if not least <= number <= most:
        raise OverflowError(f"{name} must be from {least} to {most}, got {number}")
    return number


def data_type(value: Any) -> Any:
    """Return a `TensorMapDataType`, a `numpy.dtype`, or None for an argument."""
    if value is None or isinstance(value, TensorMapDataType):
        return value
    if isinstance(value, str) and value in TensorMapDataType.__members__:
        return TensorMapDataType[value]
    advice = f"; {value!r} is no dtype such as 'float32'" if isinstance(value, str) else ""
    error = TypeError(
        "data_type must be a TensorMapDataType or a numpy/ml_dtypes dtype, got "
        f"{type(value)}{advice}"
    )
    if isinstance(value, (int, float, tuple, list, dict)):
        raise error
    try:
        return import_module("numpy").dtype(value)
    except TypeError:
        raise error from None


@dataclass
class TensorMapDescriptorOptions:
    """Options of a tiled tensor map.

    Host only.

    Parameters
    ----------
    box_dim
        Extents of the copied box in elements, the outermost first: 1 to 256 each.
    element_strides
        Traversal stride in elements along each axis; 1 if None.
    data_type
        A `TensorMapDataType` or any argument of ``numpy.dtype()``; None: the type of the tensor.
    interleave, swizzle, l2_promotion, oob_fill
        Members of the enumerations, or their names.
    """

    box_dim: tuple[int, ...]
    element_strides: tuple[int, ...] | None = None
    data_type: Any = None
    interleave: Any = TensorMapInterleave.NONE
    swizzle: Any = TensorMapSwizzle.NONE
    l2_promotion: Any = TensorMapL2Promotion.NONE
    oob_fill: Any = TensorMapOOBFill.NONE

    def __post_init__(self) -> None:
        self.box_dim = integers("box_dim", self.box_dim)
        if self.element_strides is not None:
            self.element_strides = integers("element_strides", self.element_strides)
        self.data_type = data_type(self.data_type)
        for name, cls in _ENUMS.items():
            setattr(self, name, member(name, getattr(self, name), cls))


@dataclass
class MapRules:
    """The numbers of a tensor map that the rules of TMA restrict. Host only.

    Parameters
    ----------
    address
        The address of the tensor.
    row
        Innermost extent of the box in bytes.
    row_name
        The option that sets the row.
    size
        Element size in bytes.
    extents, element_strides
        Of all axes, the outermost first.
    strides
        In bytes, of all axes but the innermost, the outermost first.
    data_type, interleave, swizzle, fill
        Members of the enumerations.
    channels, pixels
        Extents of an im2col box; 1 for tiled maps.
    """

    address: int
    row: int
    row_name: str
    size: int
    extents: list[int]
    element_strides: list[int]
    strides: list[int]
    data_type: int
    interleave: int
    swizzle: int
    fill: int
    channels: int = 1
    pixels: int = 1

    def broken(self) -> list[str]:
        """Return the rules that the map violates, as sentences. Host only."""
        return [*self._broken_row(), *self._broken_axes(), *self._broken_options()]

    def _broken_row(self) -> list[str]:
        if self.interleave != TensorMapInterleave.NONE:
            return []
        broken = []
        length = f"the innermost extent of the box ({self.row_name}) is {self.row} bytes"
        if self.row % 16:
            broken.append(
                f"{length}, but must be a multiple of 16 bytes: change it to a multiple of "
                f"{16 // gcd(16, self.size)} elements of {self.size} bytes"
            )
        most = 16 << self.swizzle if self.swizzle else self.row
        if self.row > most:
            broken.append(
                f"{length}, but {TensorMapSwizzle(self.swizzle).name} supports up to {most} "
                f"bytes: use at most {most // self.size} elements"
            )
        return broken

    def _broken_axes(self) -> list[str]:
        unit = 32 if self.interleave == TensorMapInterleave.INTERLEAVE_32B else 16
        broken = []
        for axis, stride in enumerate(self.strides):
            name = "row pitch" if axis == len(self.strides) - 1 else "stride"
            if stride % unit:
                broken.append(
                    f"the {name} of axis {axis} is {stride} bytes, but must be a multiple of "
                    f"{unit} bytes: pad the rows of the tensor"
                )
            if stride >= 1 << 40:
                broken.append(f"the {name} of axis {axis} is {stride} bytes, the limit is 2**40")
        for axis, extent in enumerate(self.extents):
            if not 1 <= extent <= 1 << 32:
                broken.append(f"the extent of axis {axis} is {extent}, but must be in [1, 2**32]")
        for axis, stride in enumerate(self.element_strides):
            if not 1 <= stride <= 8:
                broken.append(f"element_strides[{axis}] is {stride}, but must be in [1, 8]")
        if self.address % unit:
            broken.append(f"the address {self.address:#x} must be a multiple of {unit} bytes")
        return broken

    def _broken_options(self) -> list[str]:
        broken = []
        if not 1 <= self.channels <= 256:
            broken.append(f"channels_per_pixel is {self.channels}, but must be in [1, 256]")
        if not 1 <= self.pixels <= 1024:
            broken.append(f"pixels_per_column is {self.pixels}, but must be in [1, 1024]")
        if self.interleave != TensorMapInterleave.NONE and len(self.extents) < 3:
            broken.append(f"interleave needs 3 axes or more, the tensor has {len(self.extents)}")
        if self.fill != TensorMapOOBFill.NONE and self.data_type < TensorMapDataType.FLOAT16:
            name = TensorMapDataType(self.data_type).name
            broken.append(f"oob_fill with NaN needs a floating-point data_type, got {name}")
        return broken
