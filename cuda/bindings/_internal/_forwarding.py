# SPDX-License-Identifier: Apache-2.0
"""Modules without files: a table lists their names, and each name is looked up on first use."""

from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType


class ForwardingModule(ModuleType):
    """Module whose names are listed in its row, `__all__`, and the submodules of its row."""

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
    """Finder and loader of the modules of a table, for the end of `sys.meta_path`.

    Parameters
    ----------
    package : str
        Parent package of all rows.
    rows : dict
        Path below the package -> names of the module, separated by spaces.
    resolve : callable
        ``resolve(module, name)`` returns the object behind a name of a module.
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
        """Do nothing: names are looked up on first use."""
