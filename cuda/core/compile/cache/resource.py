# SPDX-License-Identifier: Apache-2.0
"""What every program cache is: keys, values, and what `Program.compile` asks of one."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from cuda.core.compile.cache.side_file import read

if TYPE_CHECKING:
    from typing import Self, TypeAlias

    from cuda.core import ObjectCode

    Key: TypeAlias = bytes | bytearray | str
    Value: TypeAlias = bytes | bytearray | memoryview | ObjectCode


class ProgramCacheResource(ABC):
    """Base class of all caches of compiled programs, for ``Program.compile(cache=)``.

    Host only. A key is `bytes` or `str`, which stands for its UTF-8; a value is a bytes-like image,
    or an `ObjectCode`, of which the image is stored. What is read is the very bytes that were
    written. Subclasses say how: all abstract methods. Other processes may write and remove entries
    at any time, so there is no ``in``: ask with `get`, and take what it gives.

    See Also
    --------
    make_program_cache_key : the key of a compilation.
    """

    __slots__ = ()

    @abstractmethod
    def __getitem__(self, key: Key) -> bytes:
        """The image; KeyError where there is none."""

    @abstractmethod
    def __setitem__(self, key: Key, value: Value) -> None:
        """Store an image, in place of the one that was there."""

    @abstractmethod
    def __delitem__(self, key: Key) -> None:
        """Remove an image; KeyError where there is none."""

    @abstractmethod
    def __len__(self) -> int:
        """The number of images."""

    @abstractmethod
    def clear(self) -> None:
        """Remove all images."""

    def get(self, key: Key, default: bytes | None = None) -> bytes | None:
        """The image of `key`, or `default` where there is none.

        Host only.
        """
        try:
            return self[key]
        except KeyError:
            return default

    def update(self, items: Mapping[Key, Value] | Iterable[tuple[Key, Value]], /) -> None:
        """Store several images, one after the other.

        Host only. Where one of them is refused, those before it are stored.

        Parameters
        ----------
        items : mapping, or iterable of pairs of key and value
        """
        for key, value in items.items() if isinstance(items, Mapping) else items:
            self[key] = value

    def close(self) -> None:  # noqa: B027  (a cache that holds nothing has nothing to do)
        """Release what the cache holds: nothing, unless a subclass says otherwise. Host only."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, exc_type, exc_value, traceback) -> None:
        self.close()

    def __contains__(self, key):
        raise TypeError(
            f"'in' says nothing of a {type(self).__name__}: another process may remove what is "
            "there; use get(key), which is None where there is none"
        )

    # What goes with an image that Program.compile stores (`side_file.py`): before the image is
    # stored, and after it was read. A cache that knows nothing of it keeps names as an entry.
    def _keep_side_file(self, key, content, has_names):
        if has_names:
            self[_key_of_side_file(key)] = content

    def _side_file(self, key, image, has_names):
        content = self.get(_key_of_side_file(key)) if has_names else None
        return read(content, image, has_names)


def _key_of_side_file(key):
    return hashlib.sha256(b"side file of " + key).digest()


def key_bytes(key):
    """A key as bytes; refuses what is no key."""
    if isinstance(key, str):
        return key.encode()
    if isinstance(key, bytes | bytearray):
        return bytes(key)
    raise TypeError(f"cache keys must be bytes or str, got {type(key).__name__}")


def image_bytes(value):
    """The image of a value as bytes; that of a path is read now."""
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
    """Refuse a limit that nothing could be stored under."""
    if max_size_bytes is None:
        return None
    if not hasattr(max_size_bytes, "__float__"):
        what = type(max_size_bytes).__name__
        raise TypeError(f"max_size_bytes must be an int, a number of bytes, or None, got {what}")
    if not max_size_bytes > 0:
        raise ValueError("max_size_bytes must be positive or None (0 would evict every write)")
    return max_size_bytes


ProgramCacheResource.__module__ = "cuda.core.utils"
