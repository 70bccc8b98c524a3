# SPDX-License-Identifier: Apache-2.0
"""Writes kernels as PTX files with a list of cases, which `driver` launches."""

import json
import re
import zlib
from pathlib import Path

NEWEST_VERSION = 9, 0  # of PTX: the one that a driver of CUDA 13.0 compiles


def buffer(text):
    """Return a buffer: ``out f4 5x300``, ``i4 20 0..50`` (integers) or ``f8 200 -2~2``."""
    words = text.split()
    result = {"is_output": words[0] == "out", "fill": "uniform"}
    words = words[result["is_output"] :]
    result["dtype"], result["shape"] = words[0], [int(n) for n in words[1].split("x")]
    if result["is_output"]:
        result["fill"] = "zeros"
    for separator, fill in (("..", "integers"), ("~", "uniform")):
        if len(words) > 2 and separator in words[2]:
            result["fill"] = fill
            result["range"] = [int(n) for n in words[2].split(separator)]
    return result


def with_known_version(ptx):
    head = re.search(r"\.version (\d+)\.(\d+)", ptx)
    if (int(head[1]), int(head[2])) <= NEWEST_VERSION:
        return ptx
    return ptx.replace(head[0], ".version {}.{}".format(*NEWEST_VERSION), 1)


class Store:
    """The cases of one family in a folder."""

    def __init__(self, folder, family):
        self.folder, self.family, self.cases = Path(folder), family, []
        self.folder.mkdir(parents=True, exist_ok=True)

    def add(self, name, ptx, **case):
        """Add a kernel: grid, block, shared, arguments, buffers, reference and tolerance."""
        file = f"{self.family}@{name}.ptx"
        (self.folder / file).write_text(with_known_version(ptx))
        case.setdefault("kernel", re.search(r"\.entry\s+([\w$]+)", ptx)[1])
        seed = zlib.crc32(name.encode()) % 100000
        self.cases.append({"family": self.family, "name": name, "file": file, "seed": seed, **case})

    def save(self):
        """Write the cases of the family, and the list of all families."""
        (self.folder / f"{self.family}.json").write_text(json.dumps(self.cases))
        lists = [path for path in sorted(self.folder.glob("*.json")) if path.stem != "cases"]
        every = [case for path in lists for case in json.loads(path.read_text())]
        (self.folder / "cases.json").write_text(json.dumps(every))
        print(f"{self.family}: {len(self.cases)} kernels of {len(every)}")


def parameter_count(ptx):
    head = ptx[ptx.index(".entry") :]
    return len(re.findall(r"\.param ", head[: head.index(")")]))
