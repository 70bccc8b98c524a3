# SPDX-License-Identifier: Apache-2.0
"""Damaged headers of images are named before a driver reads beyond the image."""

import struct

import pytest
from cuda.core import CUDAError, ObjectCode

HEADER, SECTION, SEGMENT = 64, 64, 56
STANDARD, OF_CUDA, WITHOUT_BYTES = 3, 0x70000000, 8


def elf(sections=(), segments=(), tail=b"", **changes):
    """Return an ELF file: sections are (type, offset, size, link), segments (offset, size)."""
    fields = {
        "kind": 2,
        "shoff": HEADER,
        "phoff": HEADER + SECTION * len(sections),
        "phentsize": SEGMENT,
        "phnum": len(segments),
        "shentsize": SECTION,
        "shnum": len(sections),
        "shstrndx": 0,
        **changes,
    }
    head = b"\x7fELF" + bytes([fields["kind"], 1, 1]) + bytes(9)
    head += struct.pack("<HHIQQQI", 2, 190, 1, 0, fields["phoff"], fields["shoff"], 0)
    names = ("phentsize", "phnum", "shentsize", "shnum", "shstrndx")
    head += struct.pack("<HHHHHH", 64, *(fields[name] for name in names))
    for kind, offset, size, link in sections:
        head += struct.pack("<IIQQQQIIQQ", 0, kind, 0, 0, offset, size, link, 0, 1, 0)
    for offset, size in segments:
        head += struct.pack("<IIQQQQQQ", 1, 0, offset, 0, 0, size, size, 1)
    return head + tail


def entry(payload, header=64, count=None):
    head = struct.pack("<HHIQ", 1, 0x0101, header, len(payload) if count is None else count)
    return head.ljust(64, b"\0") + payload


def fat_binary(*entries, header=16, count=None):
    content = b"".join(entries)
    count = len(content) if count is None else count
    return struct.pack("<IHHQ", 0xBA55ED50, 1, header, count) + content


WHOLE = (STANDARD, 0, HEADER, 0)
BEYOND = "has {} bytes at offset {}, and the image has {} bytes"
DAMAGED = {
    "short": (elf()[:63], "the ELF header " + BEYOND.format(64, 0, 63)),
    "32 bits": (elf(kind=1), "the ELF file is not of 64 bits"),
    "sections of another size": (
        elf([WHOLE], shentsize=63),
        "the ELF file has table entries of an unknown size",
    ),
    "segments of another size": (
        elf(segments=[(0, 64)], phentsize=32),
        "the ELF file has table entries of an unknown size",
    ),
    "section table": (
        elf([WHOLE], shoff=65),
        "the section table " + BEYOND.format(64, 65, 128),
    ),
    "section table beyond": (
        elf([WHOLE], shoff=129),
        "the section table " + BEYOND.format(64, 129, 128),
    ),
    "segment table": (
        elf(segments=[(0, 64)], phoff=65),
        "the segment table " + BEYOND.format(56, 65, 120),
    ),
    "names": (
        elf([WHOLE], shstrndx=1),
        "the names of the sections are in section 1 of 1",
    ),
    "section": (
        elf([WHOLE, (STANDARD, 0, 193, 0)]),
        "section 1 " + BEYOND.format(193, 0, 192),
    ),
    "section that overflows": (
        elf([(STANDARD, 2, 2**64 - 1, 0)]),
        "section 0 " + BEYOND.format(2**64 - 1, 2, 128),
    ),
    "link": (
        elf([WHOLE, (STANDARD, 0, 1, 2)]),
        "section 1 is linked to section 2 of 2",
    ),
    "segment": (
        elf(segments=[(0, 64), (0, 177)]),
        "segment 1 " + BEYOND.format(177, 0, 176),
    ),
    "short fat binary": (
        fat_binary()[:15],
        "the header of the fat binary " + BEYOND.format(16, 0, 15),
    ),
    "small header": (fat_binary(header=15), "the fat binary has a header of 15 bytes"),
    "content": (
        fat_binary(entry(b"")[:1], count=2),
        "the content of the fat binary " + BEYOND.format(2, 16, 17),
    ),
    "small entry": (
        fat_binary(entry(b"", header=63)),
        "entry 0 of the fat binary has a header of 63 bytes",
    ),
    "large entry": (
        fat_binary(entry(b"abc"), entry(b"", header=65)),
        "entry 1 of the fat binary has a header of 65 bytes",
    ),
    "payload": (
        fat_binary(entry(b"abc"), entry(b"d", count=2)),
        "entry 1 of the fat binary " + BEYOND.format(2, 147, 148),
    ),
    "wrapper": (
        struct.pack("<IIQQ", 0x466243B1, 1, 0, 0),
        "it is the wrapper of a fat binary, which holds an address: pass the fat binary itself",
    ),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damage_is_named_with_its_place_and_size(device, name):
    image, text = DAMAGED[name]
    code = ObjectCode.from_fatbin(image) if "fat" in text else ObjectCode.from_cubin(image)
    with pytest.raises(CUDAError) as caught:
        code.get_kernel("k")
    assert f"the image is damaged: {text}" in str(caught.value)


SOUND = {
    "no tables": elf(shoff=64, shentsize=0, phentsize=0),
    "tables at the end": elf([WHOLE], [(0, 184)]),
    "whole sections": elf([WHOLE, (STANDARD, 64, 128, 1)], shstrndx=1),
    "sections of CUDA": elf([WHOLE, (OF_CUDA, 0, 9999, 9999)]),
    "sections without bytes": elf([WHOLE, (WITHOUT_BYTES, 0, 9999, 0)]),
    "entries": fat_binary(entry(b"abc"), entry(b"")),
    "a rest that is no entry": fat_binary(entry(b"abc") + bytes(63)),
    "text": b"\x7fEL",
}


@pytest.mark.parametrize("name", SOUND)
def test_sound_headers_are_left_to_the_driver(device, name):
    image = SOUND[name]
    code = ObjectCode.from_cubin(image)
    with pytest.raises(CUDAError) as caught:
        code.get_kernel("k")
    assert "the image is damaged" not in str(caught.value)
