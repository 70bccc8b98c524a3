# SPDX-License-Identifier: Apache-2.0
"""Addresses of the functions of each library, by ``"__"`` + exported C name."""

from functools import cache

from cuda.bindings._low import exported_names, inspect_function_pointer, load

PREFIX = "__"


@cache
def _names(library):
    return frozenset(exported_names(library))


def _inspect_function_pointer(module):
    """Create the function of that name for the library with the name of a module of `_internal`."""
    library = module.rpartition(".")[2]

    def _inspect_function_pointer(name):
        """Address of ``"__"`` + C name as an int; 0 if the library lacks the function.

        Blocks the host: opens the library if it is not open yet.

        Raises
        ------
        TypeError
            If the name is no str.
        KeyError
            If the API of the library has no such function.
        DynamicLibNotFoundError
            If the library cannot be opened.
        """
        if not isinstance(name, str):
            raise TypeError(
                "_inspect_function_pointer() argument 'name': "
                f"expected str, got {type(name).__name__}"
            )
        function = name.removeprefix(PREFIX)
        if function == name or function not in _names(library):
            raise KeyError(name)
        return inspect_function_pointer(library, function)

    _inspect_function_pointer.__qualname__ = "_inspect_function_pointer"
    return _inspect_function_pointer


def _inspect_function_pointers(module):
    """Create the function of that name for the library with the name of a module of `_internal`."""
    library = module.rpartition(".")[2]

    def _inspect_function_pointers():
        """Address of every function, by ``"__"`` + C name; 0 for functions that the library lacks.

        Blocks the host: opens the library if it is not open yet.

        Raises
        ------
        DynamicLibNotFoundError
            If the library cannot be opened.
        """
        load(library)
        return {
            PREFIX + name: inspect_function_pointer(library, name)
            for name in exported_names(library)
        }

    _inspect_function_pointers.__qualname__ = "_inspect_function_pointers"
    return _inspect_function_pointers
