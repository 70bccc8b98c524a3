# SPDX-License-Identifier: Apache-2.0
"""The page of error codes: the explanations that exceptions print."""

from importlib import import_module

from generator.libraries import load_all

from . import nvml_errors
from .tables import list_table, underlined

INTRODUCTION = """
This page has the meaning of each code and a remedy, as exceptions print them.
:doc:`../guide/troubleshooting` lists the exception classes.
"""


def page():
    """Return the page, with a table for each enumeration of codes."""
    parts = [underlined("Error codes", "="), INTRODUCTION]
    tables = [section(module, name) for module, name in sorted_by_use(enumerations())]
    return "\n".join([*parts, *tables, nvml_errors.section()])


def sorted_by_use(enums):
    """Return the enumerations with the most used, the driver's, first."""
    order = ("cuda.bindings.driver", "cuda.bindings.runtime", "cuda.bindings.nvrtc")
    places = {name: place for place, name in enumerate(order)}
    return sorted(enums, key=lambda each: places.get(each[0].__name__, len(order)))


def enumerations():
    """Yield (module, name) of each enumeration whose members the generator explains."""
    for library in load_all().values():
        if library.is_face:
            continue
        module = import_module(f"{library.package}.{library.module}")
        for name in library.decisions.enum_docs:
            # modules whose functions raise omit the prefix of the library
            fitting = [n for n in dir(module) if name.endswith(n) and n[0].isalpha()]
            yield module, max(fitting, key=len)


def section(module, name):
    members = getattr(module, name).__members__.items()
    rows = [[f"``{code}``", " ".join((member.__doc__ or "").split())] for code, member in members]
    head = underlined(f"{module.__name__}.{name}", "-")
    return f"{head}\n{list_table(['code', 'meaning and remedy'], rows, [34, 66])}"
