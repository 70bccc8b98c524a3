# SPDX-License-Identifier: Apache-2.0
"""How large the low layer is once it is installed, in all and per extension."""

import struct
import sysconfig
from pathlib import Path

import pytest
from cuda.bindings import _low

FOLDER = Path(_low.__file__).parent
SUFFIX = sysconfig.get_config_var("EXT_SUFFIX")
KILOBYTE = 1000

# What each extension may take; the cy* modules are jumps.
LIMITS = {"_low": 2200 * KILOBYTE, "_runtime": 1000 * KILOBYTE}
LIMIT_OF_JUMPS = 100 * KILOBYTE
# How many words each may have that are adjusted whenever it is loaded, as addresses in tables are.
ADJUSTED = {"_low": 9000}


def carried():
    """The files of `cuda.bindings` that a wheel carries, but the emulation, which is no part."""
    sources = [p for s in ("py", "pyi", "pxd") for p in FOLDER.rglob(f"*.{s}")]
    return [*FOLDER.glob(f"*{SUFFIX}"), *sources]


def is_debug_build():
    return b".debug_info" in (FOLDER / f"_low{SUFFIX}").read_bytes()


pytestmark = pytest.mark.skipif(is_debug_build(), reason="a build for debugging is larger")


def test_the_low_layer_takes_at_most_five_and_a_half_million_bytes():
    assert sum(path.stat().st_size for path in carried()) <= 5_500 * KILOBYTE


def test_each_extension_stays_in_its_budget():
    sizes = {p.name.removesuffix(SUFFIX): p.stat().st_size for p in FOLDER.glob(f"*{SUFFIX}")}
    assert {"_low", "cydriver"} <= sizes.keys()
    assert not {n: s for n, s in sizes.items() if s > LIMITS.get(n, LIMIT_OF_JUMPS)}


def count_adjusted(elf):
    """Entries of the relocation sections of a 64-bit ELF file: 24 bytes each."""
    (start,) = struct.unpack_from("<Q", elf, 40)
    size, count = struct.unpack_from("<HH", elf, 58)
    headers = (struct.unpack_from("<IIQQQQ", elf, start + i * size) for i in range(count))
    with_addends = 4
    return sum(length // 24 for _, kind, _, _, _, length in headers if kind == with_addends)


@pytest.mark.parametrize("name", ADJUSTED)
def test_tables_are_used_as_they_lie_in_the_file(name):
    adjusted = count_adjusted((FOLDER / f"{name}{SUFFIX}").read_bytes())
    assert 0 < adjusted <= ADJUSTED[name]
