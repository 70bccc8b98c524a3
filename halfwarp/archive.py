# SPDX-License-Identifier: Apache-2.0
"""A compressed archive in the wheel with our files that another distribution may overwrite.

It allows a repair without a network. Contains Python files, declarations for `cimport`, the modules
`cy*` and the headers of `_include` itself, because NVIDIA's wheels have files at the same paths.
Omits libraries with unique names (`_core`, `libcuda_emulated`), stubs and most headers, which
NVIDIA's wheels do not have.
"""

import io
import tarfile
from pathlib import PurePath

NAME = "halfwarp/files.tar.xz"
NOT_ARCHIVED = (".so", ".pyd", ".pyi", ".hpp", ".pyc")


def pack(root):
    """Archive the packages below a folder, with the same bytes for the same files."""
    import lzma  # some Python builds lack it, and only the build of a wheel needs it

    paths = [path for path in (root / "cuda").rglob("*") if path.is_file() and is_archived(path)]
    with tarfile.open(root / NAME, "w:xz", preset=9 | lzma.PRESET_EXTREME) as archive:
        for path in sorted(paths, key=lambda path: (path.suffix, path)):  # compresses better
            entry = tarfile.TarInfo(path.relative_to(root).as_posix())
            entry.size = path.stat().st_size
            archive.addfile(entry, io.BytesIO(path.read_bytes()))


def is_archived(path):
    """Return whether another distribution may have a file of this name."""
    path = PurePath(path)
    is_for_cimport = path.name.startswith("cy") and path.suffix in (".so", ".pyd")
    return path.suffix not in NOT_ARCHIVED or is_for_cimport or path.parent.name == "_include"


def read(root):
    """Map each archived path to its bytes; empty if there is no archive."""
    if not (root / NAME).exists():  # a source tree
        return {}
    with tarfile.open(root / NAME, "r:xz") as archive:
        return {each.name: archive.extractfile(each).read() for each in archive}
