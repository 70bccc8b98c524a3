# SPDX-License-Identifier: Apache-2.0
"""A look at the folders of ``cuda.*`` that is cheap enough for every run of pytest."""

from os.path import exists

NVIDIAS_FOLDERS = ("cuda/core/cu13", "cuda/bindings/_lib")  # only its wheels have them
FIRST_FILES = ("cuda/core/__init__.py", "cuda/bindings/__init__.py")


def sign_of_damage(root):
    """What is wrong with the packages in a folder, as far as a few look-ups by name show it."""
    for name in NVIDIAS_FOLDERS:
        if exists(f"{root}/{name}"):
            return f"{name} is NVIDIA's: files of two packages are mixed"
    gone = [name for name in FIRST_FILES if not exists(f"{root}/{name}")]
    return f"{gone[0]} is gone" if gone else None
