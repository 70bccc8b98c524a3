# SPDX-License-Identifier: Apache-2.0
"""Options of arrays and textures, checked and normalised when they are made."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from typing import Any

from cuda.core.typing import AddressModeType, ArrayFormatType, FilterModeType, ReadModeType

# The driver's number of each format, and the bytes of one component.
FORMATS = {
    "uint8": (0x01, 1),
    "uint16": (0x02, 2),
    "uint32": (0x03, 4),
    "int8": (0x08, 1),
    "int16": (0x09, 2),
    "int32": (0x0A, 4),
    "float16": (0x10, 2),
    "float32": (0x20, 4),
}
ADDRESS_MODES = {"wrap": 0, "clamp": 1, "mirror": 2, "border": 3}


def _listed(values: Any) -> str:
    return "{" + ", ".join(repr(str(value)) for value in values) + "}"


def member(name: str, given: object, cls: type[StrEnum]) -> Any:
    """The member of a string enum that an option names: itself, or its value."""
    if isinstance(given, str) and given in list(cls):
        return cls(given)
    raise ValueError(f"{name} must be a {cls.__name__} or one of {_listed(cls)}, got {given!r}")


def array_format(given: Any) -> ArrayFormatType:
    """The format that is meant: a member, its name, or what NumPy makes a dtype of."""
    if isinstance(given, str):
        if given in FORMATS:
            return ArrayFormatType(given)
        raise ValueError(
            f"format must be an ArrayFormatType or one of {_listed(FORMATS)}, got {given!r}"
        )
    try:
        dtype = import_module("numpy").dtype(given)
    except TypeError:
        raise ValueError(
            f"format must be an ArrayFormatType, str, or NumPy dtype, got {given!r}"
        ) from None
    if dtype.name not in FORMATS or not dtype.isnative:
        raise ValueError(
            f"NumPy dtype {dtype!r} has no ArrayFormatType equivalent; supported formats: "
            f"{_listed(FORMATS)}"
        )
    return ArrayFormatType(dtype.name)


def channel_count(given: Any) -> int:
    """1, 2 or 4."""
    if isinstance(given, bool) or given not in (1, 2, 4):
        raise ValueError(f"num_channels must be 1, 2, or 4, got {given!r}")
    return int(given)


def array_shape(given: Any) -> tuple[int, ...]:
    """One to three extents, the fastest axis first."""
    try:
        extents = tuple(int(extent) for extent in given)
    except TypeError:
        raise TypeError(f"shape must be a tuple of ints, got {type(given).__name__}") from None
    if not 1 <= len(extents) <= 3:
        raise ValueError(f"shape rank must be 1, 2, or 3, got {len(extents)}")
    for axis, extent in enumerate(extents):
        if extent < 1:
            raise ValueError(f"shape[{axis}] must be >= 1, got {extent}")
    return extents


@dataclass
class OpaqueArrayOptions:
    """What a CUDA array is like.

    Host only.

    Parameters
    ----------
    shape
        The extents in elements, the fastest axis first: (width,), (width, height) or
        (width, height, depth). A NumPy array of shape (height, width) fits (width, height).
    format
        An `ArrayFormatType`, its name, or what ``numpy.dtype()`` takes.
    num_channels
        The components of an element: 1, 2 or 4.
    is_surface_load_store
        Whether a surface object may be made of it.

    Raises
    ------
    TypeError
        If the shape is no sequence.
    ValueError
        If an extent, the format or the number of channels is none that there is.
    """

    shape: tuple[int, ...]
    format: object
    num_channels: int
    is_surface_load_store: bool = False

    def __post_init__(self) -> None:
        self.shape = array_shape(self.shape)
        self.format = array_format(self.format)
        self.num_channels = channel_count(self.num_channels)


@dataclass
class MipmappedArrayOptions:
    """What a mipmapped array is like: an array, and halves of it.

    Host only.

    Parameters
    ----------
    shape, format, num_channels
        Of level 0, as in `OpaqueArrayOptions`.
    num_levels
        How many levels there are; each has half of the extents of the one before.
    is_surface_load_store
        Whether surface objects may be made of the levels.

    Raises
    ------
    ValueError
        If the number of levels is below 1; and as `OpaqueArrayOptions`.
    """

    shape: tuple[int, ...]
    format: object
    num_channels: int
    num_levels: int
    is_surface_load_store: bool = False

    def __post_init__(self) -> None:
        self.shape = array_shape(self.shape)
        self.format = array_format(self.format)
        self.num_channels = channel_count(self.num_channels)
        self.num_levels = int(self.num_levels)
        if self.num_levels < 1:
            raise ValueError(f"num_levels must be >= 1, got {self.num_levels}")


@dataclass
class TextureObjectOptions:
    """How a texture is read.

    Host only.

    Parameters
    ----------
    address_mode
        What is outside: "wrap", "clamp", "mirror" or "border", or up to three of them, one for each
        axis. "wrap" and "mirror" are of normalised coordinates; others are clamped.
    filter_mode
        "point": the nearest element; "linear": a mix of those around, of floats only.
    read_mode
        "element_type", or "normalized_float": integers as fractions of the largest.
    normalized_coords
        Whether coordinates are from 0 to 1 rather than in elements.
    srgb
        Whether 8-bit colors are sRGB, to be read as brightness.
    disable_trilinear_optimization
        Whether two levels are mixed wherever the filter says so.
    seamless_cubemap
        Whether a filter mixes the faces of a cubemap.
    max_anisotropy
        Of how many elements along a slope is mixed at most.
    mipmap_filter_mode
        "point": the nearest level; "linear": a mix of two.
    mipmap_level_bias, min_mipmap_level_clamp, max_mipmap_level_clamp
        What is added to the level, and its bounds. The defaults stay on level 0.
    border_color
        Four floats; zeros if None.

    Raises
    ------
    ValueError
        If a filter or the read mode is none that there is.
    """

    address_mode: AddressModeType | str | tuple[AddressModeType | str, ...] = AddressModeType.CLAMP
    filter_mode: FilterModeType | str = FilterModeType.POINT
    read_mode: ReadModeType | str = ReadModeType.ELEMENT_TYPE
    normalized_coords: bool = False
    srgb: bool = False
    disable_trilinear_optimization: bool = False
    seamless_cubemap: bool = False
    max_anisotropy: int = 0
    mipmap_filter_mode: FilterModeType | str = FilterModeType.POINT
    mipmap_level_bias: float = 0.0
    min_mipmap_level_clamp: float = 0.0
    max_mipmap_level_clamp: float = 0.0
    border_color: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        self.filter_mode = member("filter_mode", self.filter_mode, FilterModeType)
        self.read_mode = member("read_mode", self.read_mode, ReadModeType)
        self.mipmap_filter_mode = member(
            "mipmap_filter_mode", self.mipmap_filter_mode, FilterModeType
        )


def address_modes(given: Any) -> list[int]:
    """The driver's number for each of three axes; missing ones are as the last one."""
    names = {"address_mode": given}
    if isinstance(given, tuple | list):
        if not 1 <= len(given) <= 3:
            raise ValueError(f"address_mode tuple must have 1-3 entries, got {len(given)}")
        names = {f"address_mode[{axis}]": each for axis, each in enumerate(given)}
    elif not isinstance(given, str):
        raise TypeError("address_mode must be an AddressModeType or a tuple of AddressModeType")
    modes = [ADDRESS_MODES[member(*each, AddressModeType)] for each in names.items()]
    return modes + [modes[-1]] * (3 - len(modes))


def border(given: Any) -> list[float]:
    """Four components."""
    if given is None:
        return [0.0] * 4
    color = [float(each) for each in given]
    if len(color) != 4:
        raise ValueError(f"border_color must have 4 elements, got {len(color)}")
    return color


def anisotropy(given: Any) -> int:
    """Not negative, and within what the driver's type holds."""
    value = int(given)
    if value < 0:
        raise ValueError("max_anisotropy must be >= 0")
    if value > 0xFFFFFFFF:
        raise ValueError(f"max_anisotropy must be at most {0xFFFFFFFF}, got {value}")
    return value


def flags(of: TextureObjectOptions) -> int:
    """The CU_TRSF_... flags."""
    rows = (
        (of.read_mode == "element_type", 1),
        (of.normalized_coords, 2),
        (of.srgb, 16),
        (of.disable_trilinear_optimization, 32),
        (of.seamless_cubemap, 64),
    )
    return sum(bit for is_set, bit in rows if is_set)
