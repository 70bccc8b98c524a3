# SPDX-License-Identifier: Apache-2.0
"""Folders of the user's caches."""

import os


def user_cache_folder():
    """Return the root folder of this user's caches.

    Raises
    ------
    RuntimeError
        If neither the environment nor the system names a home directory.
    """
    if os.name == "nt":
        root = os.environ.get("LOCALAPPDATA") or os.path.expanduser(r"~\AppData\Local")
    else:
        root = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    if root.startswith("~"):
        raise RuntimeError("cannot determine the home directory: set XDG_CACHE_HOME")
    return os.path.join(root, "cuda-python")


def program_cache_folder():
    """Return the default folder of `FileStreamProgramCache`."""
    return os.path.join(user_cache_folder(), "program-cache")
