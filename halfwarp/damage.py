# SPDX-License-Identifier: Apache-2.0
"""A check of the folders of ``cuda.*`` that is cheap enough for every run of pytest."""

from os.path import exists

NVIDIAS_FOLDERS = ("cuda/core/cu13", "cuda/bindings/_lib")  # only NVIDIA's wheels have them
FIRST_FILES = ("cuda/core/__init__.py", "cuda/bindings/__init__.py")


def find_damage(root):
    """Describe the damage to the packages in a folder, as far as a few file lookups show it."""
    for name in NVIDIAS_FOLDERS:
        if exists(f"{root}/{name}"):
            return f"{name} belongs to NVIDIA: files of two packages are mixed"
    missing = [name for name in FIRST_FILES if not exists(f"{root}/{name}")]
    return f"{missing[0]} is missing" if missing else None
