# SPDX-License-Identifier: Apache-2.0
"""The guide's table of launch attributes equals the table of the sources."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "cuda/core/execution/launch_config/attributes.pyx"
GUIDE = ROOT / "docs/guide/launch_attributes.rst"
# "name": (CU_..., kind, version, owners, ...
ROW = re.compile(
    r'^    "(\w+)": \(\s*CU_LAUNCH_\w+,\s*(.*?),\s*(\d{5}),\s*([A-Z_| \n]+),', re.M | re.S
)
OWNERS = {"OF_NODES": "nodes", "OF_STREAMS": "streams"}
OF_ITS_OWN = ("cluster", "is_cooperative", "programmatic_stream_serialization")


def of_the_sources():
    """Return name: (driver, owners beside launches, accepted words)."""
    table = {}
    for name, kind, version, owners in ROW.findall(SOURCE.read_text("utf-8")):
        also = [word for flag, word in OWNERS.items() if flag in owners]
        since = f"{int(version) // 1000}.{int(version) % 1000 // 10}"
        if "OF_LAUNCHES" in owners and name not in OF_ITS_OWN:
            table[name] = since, ", ".join(also), re.findall(r'"(\w+)"', kind)
    return table


def of_the_guide():
    lines = GUIDE.read_text("utf-8").splitlines()
    borders = [i for i, line in enumerate(lines) if re.fullmatch(r"=+(  =+)+", line)]
    ends = [match.span() for match in re.finditer("=+", lines[borders[0]])]
    table, name = {}, None
    for line in lines[borders[1] + 1 : borders[2]]:
        keyword, value, driver, also = [line[first : last + 1].strip() for first, last in ends]
        name = keyword.strip("`") or name
        known = table.setdefault(name, (driver, also, []))
        known[2].extend(re.findall(r'"(\w+)"', value))
    return table


def test_the_table_equals_the_sources():
    assert of_the_guide() == of_the_sources()
    assert len(of_the_guide()) == 13
