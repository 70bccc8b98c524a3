# SPDX-License-Identifier: Apache-2.0
"""Modules that exist as a row of a table only: made on demand, each name looked up when used."""

from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType


class ForwardingModule(ModuleType):
    """A module whose names are those of its row, `__all__`, and the modules below it."""

    def __getattr__(self, name):
        if f"{self.__name__}.{name}" in self.__loader__.rows:
            return import_module(f"{self.__name__}.{name}")
        if name not in self.__all__:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        value = self.__loader__.resolve(self.__name__, name)
        setattr(self, name, value)
        return value

    def __dir__(self):
        return sorted({*self.__dict__, *self.__all__})


class ForwardingTable:
    """Finds and loads the modules of a table; for the end of `sys.meta_path`.

    Parameters
    ----------
    package : str
        The package that all rows are below.
    rows : dict
        Path below the package -> its names, separated by spaces.
    resolve : callable
        ``resolve(module, name)`` gives the object that a name of a module stands for.
    doc : str
        The docstring of the modules.
    """

    def __init__(self, package, rows, resolve, doc):
        self.rows = {f"{package}.{path}": names for path, names in rows.items()}
        self.resolve = resolve
        self.doc = doc

    def find_spec(self, fullname, path=None, target=None):
        if fullname not in self.rows:
            return None
        is_package = any(other.startswith(f"{fullname}.") for other in self.rows)
        return ModuleSpec(fullname, self, is_package=is_package)

    def create_module(self, spec):
        module = ForwardingModule(spec.name, self.doc)
        module.__all__ = self.rows[spec.name].split()
        return module

    def exec_module(self, module):
        """Nothing to run: names are looked up when they are used."""
