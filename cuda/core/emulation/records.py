# SPDX-License-Identifier: Apache-2.0
"""What the emulator tells of: faults, the allocations beside them, leaks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    _Extent = tuple[int, int, int]


@dataclass(frozen=True)
class Allocation:
    """The allocation nearest to a faulty address. Sizes and addresses in bytes."""

    base: int
    size: int
    is_live: bool
    stream: int
    freed_stream: int
    name: str
    created_at: str
    freed_at: str


@dataclass(frozen=True)
class Fault:
    """A mistake of a kernel, of a copy in a stream, or with what was given back.

    ``is_of_lifetime``: a destroyed handle or freed memory was used. ``str()`` gives the report.
    """

    kind: str
    code: int
    is_sticky: bool
    is_of_lifetime: bool
    access: str
    bytes: int
    address: int
    kernel: str
    device: int
    stream: int
    grid: _Extent
    block: _Extent
    block_index: _Extent
    thread: _Extent
    other_threads: int
    ptx_line: int
    source_file: str
    source_line: int
    instruction: str
    nearest: Allocation | None
    detail: str
    hint: str
    seed: int
    first_line: str
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Leak:
    """Something that was made and not given back. ``id``: number, or address of memory."""

    kind: str
    id: int
    bytes: int
    device: int
    pool: int
    stream: int
    name: str
    created_at: str
