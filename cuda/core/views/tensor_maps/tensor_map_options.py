# SPDX-License-Identifier: Apache-2.0
"""TensorMapDescriptorOptions and its enumerations."""

from dataclasses import dataclass
from enum import IntEnum
from importlib import import_module
from operator import index
from typing import Any


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
        f"{value!r} of {type(value)}"
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


def data_type(value: Any) -> Any:
    """Return a `TensorMapDataType`, a `numpy.dtype`, or None for an argument."""
    if value is None or isinstance(value, TensorMapDataType):
        return value
    if isinstance(value, str) and value in TensorMapDataType.__members__:
        return TensorMapDataType[value]
    error = TypeError(
        f"data_type must be a TensorMapDataType or a numpy/ml_dtypes dtype, got {type(value)}"
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


def broken_rules(row, strides, interleave, swizzle):
    """Return the rules of TMA that a map violates, as sentences.

    Host only.

    Parameters
    ----------
    row : int
        Innermost extent of the box in bytes.
    strides : list of int
        Strides in bytes of all axes but the innermost.
    interleave, swizzle : int

    Returns
    -------
    list of str
    """
    unit = 32 if interleave == TensorMapInterleave.INTERLEAVE_32B else 16
    broken = []
    if interleave == TensorMapInterleave.NONE:
        most = 16 << swizzle if swizzle else row
        if row % 16:
            broken.append(f"the innermost extent of the box must be a multiple of 16 bytes: {row}")
        if row > most:
            name = TensorMapSwizzle(swizzle).name
            broken.append(f"{name} supports an innermost extent of up to {most} bytes: {row}")
    elif unit == 32 and swizzle != TensorMapSwizzle.SWIZZLE_32B:
        broken.append("INTERLEAVE_32B needs SWIZZLE_32B")
    if any(stride % unit for stride in strides):
        broken.append(f"strides must be multiples of {unit} bytes: {strides}")
    return broken
