# SPDX-License-Identifier: Apache-2.0
"""Addresses of the functions of each library, by ``"__"`` + exported C name."""

from functools import cache

from cuda.bindings._low import exported_names, inspect_function_pointer, load

PREFIX = "__"


@cache
def _names(library):
    return frozenset(exported_names(library))


def _inspect_function_pointer(module):
    """The function of that name for the library that a module of `_internal` is named after."""
    library = module.rpartition(".")[2]

    def _inspect_function_pointer(name):
        """Address of ``"__"`` + C name as an int; 0 when the library lacks the function.

        Blocks the host: opens the library if that has not happened.

        Raises
        ------
        TypeError
            If the name is no text.
        KeyError
            If no library of that kind has such a function.
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
    """The function of that name for the library that a module of `_internal` is named after."""
    library = module.rpartition(".")[2]

    def _inspect_function_pointers():
        """Address of every function, by ``"__"`` + C name; 0 for those that the library lacks.

        Blocks the host: opens the library if that has not happened.

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
