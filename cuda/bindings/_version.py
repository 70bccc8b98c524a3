# SPDX-License-Identifier: Apache-2.0
"""The level of the API provided, under the names that other packages import."""

from cuda.bindings import __version__

__version_tuple__ = tuple(int(part) for part in __version__.split("."))

__all__ = ["__version__", "__version_tuple__"]
