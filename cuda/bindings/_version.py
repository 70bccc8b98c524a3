# SPDX-License-Identifier: Apache-2.0
"""Version of the provided API, under the names that other packages import."""

from cuda.bindings import __version__

__all__ = [
    "__commit_id__",
    "__version__",
    "__version_tuple__",
    "commit_id",
    "version",
    "version_tuple",
]

version = __version__
__version_tuple__ = version_tuple = tuple(int(part) for part in __version__.split("."))
__commit_id__ = commit_id = None  # an API version has no commit
