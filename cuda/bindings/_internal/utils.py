# SPDX-License-Identifier: Apache-2.0
"""Exceptions of the loader, and the compiler that built the package."""

__all__ = ["FunctionNotFoundError", "NotSupportedError", "get_c_compiler"]


class FunctionNotFoundError(RuntimeError):
    """The library was found, but is too old (or too new) to have the function."""


class NotSupportedError(RuntimeError):
    """The library or the platform does not support the request."""


def get_c_compiler():
    """Name and version of the C compiler that built ``cuda.bindings``."""
    from .._low import C_COMPILER

    return C_COMPILER
