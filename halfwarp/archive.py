# SPDX-License-Identifier: Apache-2.0
"""Copies of our files that another distribution may overwrite, compressed, in the wheel.

A wheel cannot be unpacked again from what it installed, and no network is needed this way. The
large libraries have names that only we use (`_core`, `libcuda_emulated`): nobody overwrites them.
Nor the stubs and most headers: of NVIDIA's wheels none has such a file at a path of ours. Python
files, declarations for `cimport`, the modules `cy*` and the headers of `_include` itself are what
those have under the same names.
"""

import io
import tarfile
from pathlib import PurePath

NAME = "halfwarp/files.tar.xz"
NOT_KEPT = (".so", ".pyd", ".pyi", ".hpp", ".pyc")


def pack(root):
    """Write the archive of the packages below a folder, the same bytes for the same files."""
    import lzma  # which a Python that only uses what is built need not have

    paths = [path for path in (root / "cuda").rglob("*") if path.is_file() and is_kept(path)]
    with tarfile.open(root / NAME, "w:xz", preset=9 | lzma.PRESET_EXTREME) as archive:
        for path in sorted(paths, key=lambda path: (path.suffix, path)):  # like beside like
            entry = tarfile.TarInfo(path.relative_to(root).as_posix())
            entry.size = path.stat().st_size
            archive.addfile(entry, io.BytesIO(path.read_bytes()))


def is_kept(path):
    """Whether others may have a file of this name."""
    path = PurePath(path)
    is_for_cimport = path.name.startswith("cy") and path.suffix in (".so", ".pyd")
    return path.suffix not in NOT_KEPT or is_for_cimport or path.parent.name == "_include"


def read(root):
    """Path -> bytes, of all that the archive beside us has; empty where there is none."""
    if not (root / NAME).exists():  # a source tree
        return {}
    with tarfile.open(root / NAME, "r:xz") as archive:
        return {each.name: archive.extractfile(each).read() for each in archive}
