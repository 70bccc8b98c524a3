# SPDX-License-Identifier: Apache-2.0
"""Options of arrays and textures, checked and normalized on construction."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from typing import Any

from cuda.core.arguments.shown import shown
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


def member(name: str, value: object, cls: type[StrEnum]) -> Any:
    """Return the member of a string enum for an option: a member or its value."""
    if isinstance(value, str) and value in list(cls):
        return cls(value)
    raise ValueError(
        f"{name} must be a {cls.__name__} or one of {_listed(cls)}, got {shown(value)}"
    )


def array_format(value: Any) -> ArrayFormatType:
    """Return the format of a member, its name, or an argument of ``numpy.dtype``."""
    if isinstance(value, str):
        if value in FORMATS:
            return ArrayFormatType(value)
        raise ValueError(
            f"format must be an ArrayFormatType or one of {_listed(FORMATS)}, got {shown(value)}"
        )
    try:
        dtype = import_module("numpy").dtype(value)
    except TypeError:
        raise ValueError(
            f"format must be an ArrayFormatType, str, or NumPy dtype, got {shown(value)}"
        ) from None
    if dtype.name not in FORMATS or not dtype.isnative:
        raise ValueError(
            f"NumPy dtype {dtype!r} has no ArrayFormatType equivalent; supported formats: "
            f"{_listed(FORMATS)}"
        )
    return ArrayFormatType(dtype.name)


def integer(name: str, value: Any) -> int:
    """Return the number of an option as an int."""
    try:
        return int(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise type(error)(f"{name} must be an int, got {shown(value)}") from None


def channel_count(value: Any) -> int:
    """Return the number of channels: 1, 2 or 4."""
    number = value if isinstance(value, float) else None
    if hasattr(type(value), "__index__"):
        number = integer("num_channels", value)
    if isinstance(value, bool) or number not in (1, 2, 4):
        raise ValueError(f"num_channels must be 1, 2, or 4, got {shown(value)}")
    return int(value)


def extent_of(axis: int, value: Any) -> int:
    """Return an extent as an int; a whole float gives a warning at the caller's line."""
    if isinstance(value, float) and value.is_integer():
        text = f"an integer given as a float ({shown(value)}) is deprecated: use {int(value)}"
        warnings.warn(text, DeprecationWarning, stacklevel=5)
    elif not hasattr(type(value), "__index__"):
        raise TypeError(
            f"shape[{axis}] must be an int, got {shown(value)} ({type(value).__name__})"
        )
    return int(value)


def array_shape(value: Any) -> tuple[int, ...]:
    """Return one to three extents, the fastest axis first."""
    if isinstance(value, (str, bytes)):
        raise TypeError(f"shape must be a tuple of ints, got {shown(value)}")
    try:
        entries = tuple(value)
    except TypeError:
        raise TypeError(f"shape must be a tuple of ints, got {type(value).__name__}") from None
    if not 1 <= len(entries) <= 3:
        raise ValueError(f"shape rank must be 1, 2, or 3, got {len(entries)}")
    extents = []
    for axis, entry in enumerate(entries):
        extents.append(extent_of(axis, entry))
        if extents[axis] < 1:
            raise ValueError(f"shape[{axis}] must be >= 1, got {extents[axis]}")
    return tuple(extents)


@dataclass
class OpaqueArrayOptions:
    """Properties of a CUDA array.

    Host only.

    Parameters
    ----------
    shape
        Extents in elements, the fastest axis first: (width,), (width, height) or
        (width, height, depth). A NumPy array of shape (height, width) matches (width, height).
    format
        An `ArrayFormatType`, its name, or an argument that ``numpy.dtype()`` accepts.
    num_channels
        Number of components of an element: 1, 2 or 4.
    is_surface_load_store
        Whether a surface object can be created from the array.

    Raises
    ------
    TypeError
        If the shape is not a sequence of ints.
    ValueError
        If an extent, the format or the number of channels is invalid.
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
    """Properties of a mipmapped array.

    Host only.

    Parameters
    ----------
    shape, format, num_channels
        Properties of level 0, as in `OpaqueArrayOptions`.
    num_levels
        Number of levels; each level has half of the previous level's extents.
    is_surface_load_store
        Whether surface objects can be created from the levels.

    Raises
    ------
    ValueError
        If `num_levels` is less than 1, or for the reasons of `OpaqueArrayOptions`.
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
        self.num_levels = integer("num_levels", self.num_levels)
        if self.num_levels < 1:
            raise ValueError(f"num_levels must be >= 1, got {self.num_levels}")
        most = max(self.shape).bit_length()  # the driver clamps a larger number
        if self.num_levels > most:
            text = f"num_levels is {self.num_levels}, but shape {self.shape} has {most} levels"
            warnings.warn(f"{text}: the driver creates no more", UserWarning, stacklevel=3)


@dataclass
class TextureObjectOptions:
    """Options for reading a texture.

    Host only.

    Parameters
    ----------
    address_mode
        Mode for coordinates outside the image: "wrap", "clamp", "mirror" or "border", or up to
        three modes, one for each axis. "wrap" and "mirror" need normalized coordinates;
        without them, coordinates are clamped.
    filter_mode
        "point" reads the nearest element; "linear" interpolates neighboring elements of floats.
    read_mode
        "element_type", or "normalized_float", which reads integers as fractions of the maximum.
    normalized_coords
        Whether coordinates range from 0 to 1 instead of counting elements.
    srgb
        Whether 8-bit components are sRGB and are converted to linear values when read.
    disable_trilinear_optimization
        Whether the driver must not optimize trilinear filtering.
    seamless_cubemap
        Whether filtering interpolates across the faces of a cubemap.
    max_anisotropy
        Maximum ratio of anisotropic filtering.
    mipmap_filter_mode
        "point" reads the nearest level; "linear" interpolates two levels.
    mipmap_level_bias, min_mipmap_level_clamp, max_mipmap_level_clamp
        Offset added to the level, and the level's bounds. The defaults select level 0.
    border_color
        Four floats; zeros if None.

    Raises
    ------
    ValueError
        If a filter mode or the read mode is unknown.
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


def address_modes(value: Any) -> list[int]:
    """Return the driver's numbers for three axes; the last mode fills missing axes."""
    names = {"address_mode": value}
    if isinstance(value, tuple | list):
        if not 1 <= len(value) <= 3:
            raise ValueError(f"address_mode tuple must have 1-3 entries, got {len(value)}")
        names = {f"address_mode[{axis}]": each for axis, each in enumerate(value)}
    elif not isinstance(value, str):
        raise TypeError("address_mode must be an AddressModeType or a tuple of AddressModeType")
    modes = [ADDRESS_MODES[member(*each, AddressModeType)] for each in names.items()]
    return modes + [modes[-1]] * (3 - len(modes))


def border(value: Any) -> list[float]:
    """Return the four components of the border color."""
    if value is None:
        return [0.0] * 4
    try:
        color = [float(each) for each in value]
    except (TypeError, ValueError):
        raise TypeError(f"border_color must be four floats or None, got {shown(value)}") from None
    if len(color) != 4:
        raise ValueError(f"border_color must have 4 elements, got {len(color)}")
    return color


def real(name: str, value: Any) -> float:
    """Return the number of an option as a float."""
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a real number, got {shown(value)}") from None


def anisotropy(value: Any) -> int:
    """Return the maximum anisotropy after a range check."""
    try:
        number = integer("max_anisotropy", value)
    except ValueError as error:
        raise TypeError(str(error)) from None
    if number < 0:
        raise ValueError("max_anisotropy must be >= 0")
    if number > 0xFFFFFFFF:
        raise ValueError(f"max_anisotropy must be at most {0xFFFFFFFF}, got {number}")
    return number


def flags(options: TextureObjectOptions) -> int:
    """Return the CU_TRSF_... flags of the options."""
    rows = (
        (options.read_mode == "element_type", 1),
        (options.normalized_coords, 2),
        (options.srgb, 16),
        (options.disable_trilinear_optimization, 32),
        (options.seamless_cubemap, 64),
    )
    return sum(bit for is_set, bit in rows if is_set)
