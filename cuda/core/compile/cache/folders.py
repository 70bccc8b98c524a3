# SPDX-License-Identifier: Apache-2.0
"""Where files of the user's caches are."""

import os


def user_cache_folder():
    """The folder below which all that is kept for this user lies.

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
        raise RuntimeError("no home directory is known: set XDG_CACHE_HOME")
    return os.path.join(root, "cuda-python")


def program_cache_folder():
    """The folder of a `FileStreamProgramCache` that is given none."""
    return os.path.join(user_cache_folder(), "program-cache")
