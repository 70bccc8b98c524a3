# SPDX-License-Identifier: Apache-2.0
"""Addresses of the driver's functions, under the names that existing code asks for."""

from .._loader import exported_names, inspect_function_pointer


def _inspect_function_pointer(name):
    """Address of ``"__"`` + C name as an int; 0 when the library lacks the function."""
    return inspect_function_pointer("driver", name.removeprefix("__"))


def _inspect_function_pointers():
    """Address of every function, by ``"__"`` + C name."""
    return {f"__{name}": _inspect_function_pointer(name) for name in exported_names("driver")}
