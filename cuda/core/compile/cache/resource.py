# SPDX-License-Identifier: Apache-2.0
"""The base class of program caches, and the conversion of keys and values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping

from cuda.core.compile.cache.program_data import pack, read
from cuda.core.compile.cache.sha256 import sha256

TYPE_CHECKING = False  # the import of `typing` takes 3 ms
if TYPE_CHECKING:
    from typing import Self, TypeAlias

    from cuda.core import ObjectCode

    Key: TypeAlias = bytes | bytearray | str
    Value: TypeAlias = bytes | bytearray | memoryview | ObjectCode


class ProgramCacheResource(ABC):
    """Base class of all caches of compiled programs, for ``Program.compile(cache=)``.

    Host only. A key is `bytes`, or `str` with the meaning of its UTF-8. A value is a bytes-like
    image or an `ObjectCode`, whose image is stored. A read returns the exact bytes of the write.
    Subclasses implement all abstract methods. Other processes can write and remove entries at any
    time, so a cache does not support ``in``: call `get` and use its result.

    See Also
    --------
    make_program_cache_key : returns the key of a compilation.
    """

    __slots__ = ()

    @abstractmethod
    def __getitem__(self, key: Key) -> bytes:
        """Return an image; raise KeyError if it does not exist."""

    @abstractmethod
    def __setitem__(self, key: Key, value: Value) -> None:
        """Store or replace an image."""

    @abstractmethod
    def __delitem__(self, key: Key) -> None:
        """Remove an image; raise KeyError if it does not exist."""

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of images."""

    @abstractmethod
    def clear(self) -> None:
        """Remove all images."""

    def get(self, key: Key, default: bytes | None = None) -> bytes | None:
        """Return the image of `key`, or `default` if it does not exist.

        Host only.
        """
        try:
            return self[key]
        except KeyError:
            return default

    def update(self, items: Mapping[Key, Value] | Iterable[tuple[Key, Value]], /) -> None:
        """Store several images in order.

        Host only. If an image is rejected, the images before it remain stored.

        Parameters
        ----------
        items : mapping, or iterable of pairs of key and value
        """
        for key, value in items.items() if isinstance(items, Mapping) else items:
            self[key] = value

    def close(self) -> None:  # noqa: B027  (a cache without resources needs no close)
        """Release the cache's resources; the base class has none. Host only."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, exc_type, exc_value, traceback) -> None:
        self.close()

    def __contains__(self, key):
        raise TypeError(
            f"{type(self).__name__} does not support 'in': another process may remove an entry at "
            "any time; use get(key), which returns None for a missing entry"
        )

    # Program.compile uses these two methods. A user's cache returns only images, so names are a
    # separate entry there, which is written first.
    def _load_program(self, key, has_names):
        """Return an image, its names and declarations, or None. Unknown ones are None."""
        image = self.get(key)
        if image is None:
            return None
        if not has_names:
            return image, None, None
        data = self.get(_key_of_program_data(key))
        if isinstance(image, bytearray | memoryview):
            image = bytes(image)
        program = read(bytes(data), image) if data and isinstance(image, bytes) else None
        return (image, None, None) if program is None else (image, *program)

    def _store_program(self, key, code, names, declarations):
        if names:
            self[_key_of_program_data(key)] = pack(image_bytes(code), names, declarations)
        self[key] = code


_Method = type(ABC.register)  # the import of `types` takes longer


def _key_of_program_data(key):
    return sha256(b"side file of " + key).digest()


def access_methods(cache):
    """Return the functions by which users access entries, to detect overridden ones.

    `compile` calls overridden methods. It accesses the entries of other caches directly.
    """
    cls, get = type(cache), cache.get
    if type(get) is _Method and get.__self__ is cache:
        get = get.__func__
    return cls.__getitem__, cls.__setitem__, get


def access_methods_of(cls):
    """Return `access_methods` of a cache that is an instance of exactly this class."""
    return cls.__getitem__, cls.__setitem__, cls.get


def key_bytes(key):
    """Return a key as bytes; reject other types."""
    if isinstance(key, str):
        return key.encode()
    if isinstance(key, bytes | bytearray):
        return bytes(key)
    raise TypeError(f"cache keys must be bytes or str, got {type(key).__name__}")


def image_bytes(value):
    """Return the image of a value as bytes; read the file of a path."""
    if type(value) is bytes:
        return value
    if isinstance(value, bytes | bytearray | memoryview):
        return memoryview(value).tobytes()
    from cuda.core import ObjectCode

    if not isinstance(value, ObjectCode):
        raise TypeError(
            f"cache values must be bytes-like or ObjectCode, got {type(value).__name__}"
        )
    if isinstance(value.code, bytes):
        return value.code
    try:
        with open(value.code, "rb") as file:
            return file.read()
    except FileNotFoundError as error:
        raise FileNotFoundError(
            f"cannot store path-backed ObjectCode in cache: {value.code} no longer exists"
        ) from error


def check_limit(max_size_bytes):
    """Return the limit after a check that it is positive or None."""
    if max_size_bytes is None:
        return None
    if not hasattr(max_size_bytes, "__float__"):
        name = type(max_size_bytes).__name__
        raise TypeError(f"max_size_bytes must be an int, a number of bytes, or None, got {name}")
    if not max_size_bytes > 0:
        raise ValueError("max_size_bytes must be positive or None (0 would evict every write)")
    return max_size_bytes


ProgramCacheResource.__module__ = "cuda.core.utils"
