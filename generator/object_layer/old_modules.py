# SPDX-License-Identifier: Apache-2.0
"""Writes the old modules `cuda.cuda`, `cuda.nvrtc` and so on, which must exist as files."""

from __future__ import annotations

from pathlib import Path

from ..model import origin_of
from .cimport_aliases import TABLE, literal

HEAD = f"# {origin_of('cuda/core/_forwarding.py')}\n"
MODULE = '''"""`cuda.bindings.{new}` under its old name."""

import sys
import warnings

from cuda.bindings import {new}

warnings.warn("cuda.{old} is deprecated: use cuda.bindings.{new}", FutureWarning, stacklevel=2)
sys.modules[__name__] = {new}
'''


def emit(root: Path) -> dict[str, str]:
    modules = literal(root / TABLE, "OLD_MODULES")
    cimports = literal(root / TABLE, "OLD_CIMPORTS")
    files = {f"cuda/{old}.py": MODULE.format(old=old, new=new) for old, new in modules.items()}
    files["cuda/__init__.pxd"] = ""  # for `from cuda cimport ccuda`; Python ignores it
    for old, new in cimports.items():
        files[f"cuda/{old}.pxd"] = f"from cuda.bindings.{new} cimport *\n"
    return {path: HEAD + text for path, text in files.items()}
