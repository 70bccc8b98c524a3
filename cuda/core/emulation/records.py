# SPDX-License-Identifier: Apache-2.0
"""What the emulator tells of: faults, the allocations beside them, leaks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    _Extent = tuple[int, int, int]


@dataclass(frozen=True)
class Allocation:
    """The allocation nearest to a faulty address. Sizes and addresses in bytes.

    Attributes
    ----------
    base, size : int
    is_live : bool
        Whether it was not freed.
    stream, freed_stream : int
        Handles of the streams that ordered it and its free; 0 for none.
    name : str
        Of a variable of a module.
    created_at, freed_at : str
        The lines of the program, with ``trace="site"``.
    """

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

    ``str()`` gives the report. What does not apply is 0, empty or None.

    Attributes
    ----------
    kind, code : str, int
        The kind (:doc:`/guide/troubleshooting`), and the ``CUresult`` that calls answer.
    is_sticky, is_of_lifetime : bool
        Whether the context is lost; whether a destroyed handle or freed memory was used.
    access, bytes, address : str, int, int
        ``"read"``, ``"write"`` or ``"atomic"``, how much, and where.
    kernel, instruction, ptx_line : str, str, int
    source_file, source_line : str, int
        With line information.
    device, stream : int
        The ordinal, and the handle.
    grid, block, block_index, thread : tuple of int
        The launch, and the first thread that did it.
    other_threads : int
        How many more of its warp did.
    nearest : Allocation or None
    detail, hint, first_line, text : str
        What more there is to say, what to do, and the report.
    seed : int
        With which the emulator runs.
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
    """Something that was made and not given back.

    Attributes
    ----------
    kind, name, created_at : str
        As in ``emulation.leaks``; of a pool or variable; the line, with ``trace="site"``.
    id, bytes : int
        The number, or the address of memory; how much.
    device, pool, stream : int
        Where it is from.
    """

    kind: str
    id: int
    bytes: int
    device: int
    pool: int
    stream: int
    name: str
    created_at: str
