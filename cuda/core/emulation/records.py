# SPDX-License-Identifier: Apache-2.0
"""Records that the emulator reports: faults, nearby allocations and leaks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    _Extent = tuple[int, int, int]


@dataclass(frozen=True)
class Allocation:
    """The allocation nearest to a faulting address. Sizes and addresses are in bytes.

    Attributes
    ----------
    base, size : int
    is_live : bool
        Whether the memory is still allocated.
    stream, freed_stream : int
        Handles of the streams that ordered allocation and free; 0 for none.
    name : str
        Name of a module's variable.
    created_at, freed_at : str
        Source lines of the program, with ``trace="site"``.
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
class EarlierAccess:
    """The first of two accesses that race.

    Attributes
    ----------
    access, instruction, source_file : str
        Type of the access, as in `Fault`, its PTX instruction and source file.
    block_index, thread : tuple of int
    ptx_line, source_line : int
    """

    access: str
    block_index: _Extent
    thread: _Extent
    ptx_line: int
    source_file: str
    source_line: int
    instruction: str


@dataclass(frozen=True)
class Origin:
    """The last write of a word of device memory.

    Attributes
    ----------
    offset : int
        Distance of the word from the start of the range, in bytes.
    operation, created_at : str
        The kernel, copy or memset, and the source line of the launch, with ``trace="site"``.
    block_index, thread : tuple of int
        The thread of a kernel.
    ptx_line, source_file, source_line, instruction : int, str, int, str
        Position of the store in the kernel.
    """

    offset: int
    operation: str
    created_at: str
    block_index: _Extent
    thread: _Extent
    ptx_line: int
    source_file: str
    source_line: int
    instruction: str


@dataclass(frozen=True)
class Fault:
    """An error of a kernel or stream copy, or the use of freed memory or destroyed handles.

    ``str()`` returns the report. Attributes that do not apply are 0, empty or None.

    Attributes
    ----------
    kind, code : str, int
        Kind of the fault (:doc:`/guide/troubleshooting`), and the ``CUresult`` of calls.
    is_sticky, is_of_lifetime, is_finding : bool
        Whether the context is lost; whether the fault used a destroyed handle or freed memory;
        whether a check found it in a launch that ended normally.
    access, bytes, address : str, int, int
        Type of the access (``"read"``, ``"write"`` or ``"atomic"``), its size and address.
    kernel, instruction, ptx_line : str, str, int
    source_file, source_line : str, int
        Source position, if the module has line information.
    device, stream : int
        Ordinal of the device and handle of the stream.
    grid, block, block_index, thread : tuple of int
        Dimensions of the launch, and indices of the first faulting thread.
    other_threads : int
        Number of other faulting threads in the same warp.
    nearest : Allocation or None
    earlier : EarlierAccess or None
        The first of two accesses that race.
    count : int
        How often the launch made the same mistake.
    detail, hint, first_line, text : str
        Details, advice, and the first line and full text of the report.
    seed : int
        Seed of the emulator.
    """

    kind: str
    code: int
    is_sticky: bool
    is_of_lifetime: bool
    is_finding: bool
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
    earlier: EarlierAccess | None
    count: int
    detail: str
    hint: str
    seed: int
    first_line: str
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Leak:
    """An object or allocation that the program created and did not release.

    Attributes
    ----------
    kind, name, created_at : str
        Kind of the object; name of a pool or variable; source line with ``trace="site"``.
    id, bytes : int
        Id of the object, or address of the memory; its size.
    device, pool, stream : int
        Device, pool and stream of the allocation.
    """

    kind: str
    id: int
    bytes: int
    device: int
    pool: int
    stream: int
    name: str
    created_at: str
