# SPDX-License-Identifier: Apache-2.0
"""Size of the installed low layer, in all and per extension."""

import struct
import sysconfig
from pathlib import Path

import pytest
from cuda.bindings import _low

FOLDER = Path(_low.__file__).parent
SUFFIX = sysconfig.get_config_var("EXT_SUFFIX")
KILOBYTE = 1000

# Budget of each extension; the cy* modules are jumps.
LIMITS = {"_low": 2200 * KILOBYTE, "_runtime": 1000 * KILOBYTE}
LIMIT_OF_JUMPS = 100 * KILOBYTE
# Maximal number of words per extension that the loader relocates, like addresses in tables.
ADJUSTED = {"_low": 9000}


def carried():
    """Return the files of `cuda.bindings` in a wheel, without the emulation."""
    sources = [p for s in ("py", "pyi", "pxd") for p in FOLDER.rglob(f"*.{s}")]
    return [*FOLDER.glob(f"*{SUFFIX}"), *sources]


def is_debug_build():
    return b".debug_info" in (FOLDER / f"_low{SUFFIX}").read_bytes()


pytestmark = pytest.mark.skipif(is_debug_build(), reason="a build for debugging is larger")


def test_the_low_layer_has_at_most_five_and_a_half_million_bytes():
    assert sum(path.stat().st_size for path in carried()) <= 5_500 * KILOBYTE


def test_each_extension_stays_in_its_budget():
    sizes = {p.name.removesuffix(SUFFIX): p.stat().st_size for p in FOLDER.glob(f"*{SUFFIX}")}
    assert {"_low", "cydriver"} <= sizes.keys()
    assert not {n: s for n, s in sizes.items() if s > LIMITS.get(n, LIMIT_OF_JUMPS)}


def count_adjusted(elf):
    """Count entries of the relocation sections of a 64-bit ELF file: 24 bytes each."""
    (start,) = struct.unpack_from("<Q", elf, 40)
    size, count = struct.unpack_from("<HH", elf, 58)
    headers = (struct.unpack_from("<IIQQQQ", elf, start + i * size) for i in range(count))
    with_addends = 4
    return sum(length // 24 for _, kind, _, _, _, length in headers if kind == with_addends)


@pytest.mark.parametrize("name", ADJUSTED)
def test_tables_need_no_relocation(name):
    adjusted = count_adjusted((FOLDER / f"{name}{SUFFIX}").read_bytes())
    assert 0 < adjusted <= ADJUSTED[name]
