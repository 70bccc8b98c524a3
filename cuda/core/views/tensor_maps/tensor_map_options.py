# SPDX-License-Identifier: Apache-2.0
"""What is asked of a tensor map: its options, and the enumerations in them."""

from dataclasses import dataclass
from enum import IntEnum
from importlib import import_module
from operator import index
from typing import Any


class TensorMapDataType(IntEnum):
    """The type of the elements, as the copy unit sees them."""

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
    """How channels are interleaved in memory."""

    NONE = 0
    INTERLEAVE_16B = 1
    INTERLEAVE_32B = 2


class TensorMapSwizzle(IntEnum):
    """How rows are swizzled in shared memory."""

    NONE = 0
    SWIZZLE_32B = 1
    SWIZZLE_64B = 2
    SWIZZLE_128B = 3


class TensorMapL2Promotion(IntEnum):
    """How much the L2 cache fetches at once."""

    NONE = 0
    L2_64B = 1
    L2_128B = 2
    L2_256B = 3


class TensorMapOOBFill(IntEnum):
    """What is read outside of the tensor: zeros, or a NaN that multiplications take for zero."""

    NONE = 0
    NAN_REQUEST_ZERO_FMA = 1


class TensorMapIm2ColWideMode(IntEnum):
    """Which elements a wide im2col copy takes."""

    W = 0
    W128 = 1


_ENUMS = {
    "interleave": TensorMapInterleave,
    "swizzle": TensorMapSwizzle,
    "l2_promotion": TensorMapL2Promotion,
    "oob_fill": TensorMapOOBFill,
}


def member(name: str, given: object, cls: type[IntEnum]) -> IntEnum:
    """The member that an option names: itself, or its name."""
    if isinstance(given, cls):
        return given
    if isinstance(given, str) and given in cls.__members__:
        return cls[given]
    raise TypeError(
        f"{name} must be a {cls.__name__}, or the name of one ({', '.join(cls.__members__)}), got "
        f"{given!r} of {type(given)}"
    )


def integers(name: str, given: Any) -> tuple[int, ...]:
    """The integers of a sequence."""
    try:
        entries = tuple(given)
    except TypeError:
        raise TypeError(f"{name} must be a tuple of ints, got {type(given)}") from None
    for place, entry in enumerate(entries):
        if isinstance(entry, str) or not hasattr(type(entry), "__index__"):
            raise TypeError(f"{name}[{place}] must be an int, got {type(entry)}")
    return tuple(index(entry) for entry in entries)


def data_type(given: Any) -> Any:
    """A `TensorMapDataType`, a `numpy.dtype`, or None."""
    if given is None or isinstance(given, TensorMapDataType):
        return given
    if isinstance(given, str) and given in TensorMapDataType.__members__:
        return TensorMapDataType[given]
    error = TypeError(
        f"data_type must be a TensorMapDataType or a numpy/ml_dtypes dtype, got {type(given)}"
    )
    if isinstance(given, (int, float, tuple, list, dict)):
        raise error
    try:
        return import_module("numpy").dtype(given)
    except TypeError:
        raise error from None


@dataclass
class TensorMapDescriptorOptions:
    """What a tiled tensor map is like.

    Host only.

    Parameters
    ----------
    box_dim
        How many elements one copy takes along each axis, the outermost first: 1 to 256.
    element_strides
        Of how many elements along each axis one is taken; 1 for all if None.
    data_type
        A `TensorMapDataType`, or anything that ``numpy.dtype()`` takes; that of the tensor if None.
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
    """Which rules of the copy unit a map breaks, as sentences.

    Host only.

    Parameters
    ----------
    row : int
        The innermost extent of the box, in bytes.
    strides : list of int
        Of all axes but the innermost, in bytes.
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
            broken.append(f"{name} takes an innermost extent of the box up to {most} bytes: {row}")
    elif unit == 32 and swizzle != TensorMapSwizzle.SWIZZLE_32B:
        broken.append("INTERLEAVE_32B needs SWIZZLE_32B")
    if any(stride % unit for stride in strides):
        broken.append(f"strides must be multiples of {unit} bytes: {strides}")
    return broken
