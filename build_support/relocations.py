# SPDX-License-Identifier: Apache-2.0
"""Clears words of a shared object that the dynamic linker writes without reading them."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

ELF64 = b"\x7fELF\x02\x01"  # 64 bits, little endian
PROGRAM_HEADERS, NUMBER_OF_HEADERS = 32, 56  # offsets of two fields of the ELF header
HEADER, LOAD, DYNAMIC = struct.Struct("<IIQQQQQQ"), 1, 2
ENTRY, RELA, RELA_SIZE = struct.Struct("<QQ"), 7, 8
RELOCATION = struct.Struct("<QQQ")
RELATIVE = (8, 1027)  # of x86-64 and AArch64: the base address plus the addend of the entry


def clear_addends(path: Path) -> int:
    """Clear the words that relative relocations fill; return their number.

    GNU ld for x86-64 writes each addend to the word too, where it costs a wheel 2 % of its size.
    """
    data = bytearray(path.read_bytes())
    if not data.startswith(ELF64):
        raise ValueError(f"{path} is no shared object of 64 bits with the low byte first")
    words = list(relative_words(data))
    for offset in words:
        data[offset : offset + 8] = bytes(8)
    path.write_bytes(data)
    return len(words)


def relative_words(data: bytes | bytearray) -> Iterator[int]:
    """Yield the position in the file of each word that a relative relocation fills."""
    (start,) = struct.unpack_from("<Q", data, PROGRAM_HEADERS)
    (number,) = struct.unpack_from("<H", data, NUMBER_OF_HEADERS)
    headers = [HEADER.unpack_from(data, start + i * HEADER.size) for i in range(number)]
    loaded = [header for header in headers if header[0] == LOAD]
    segments = [(address, at, size) for _, _, at, address, _, size, *_ in loaded]

    def position(address: int) -> int:
        for first, at, size in segments:
            if first <= address < first + size:
                return at + address - first
        raise ValueError(f"the file has no byte for address {address:#x}")

    tags: dict[int, int] = {}
    for kind, _, at, _, _, size, *_ in headers:
        if kind == DYNAMIC:
            tags |= ENTRY.iter_unpack(data[at : at + size])
    if RELA not in tags:
        return
    at = position(tags[RELA])
    for address, info, _ in RELOCATION.iter_unpack(data[at : at + tags[RELA_SIZE]]):
        if info & 0xFFFFFFFF in RELATIVE:
            yield position(address)
