# SPDX-License-Identifier: Apache-2.0
"""What each error code means and what to do: the texts that exceptions print."""

from importlib import import_module

from generator.libraries import load_all

from . import nvml_errors
from .tables import list_table, underlined

INTRODUCTION = """
What a code means, and what to do about it, as the exceptions say it.
:doc:`../guide/troubleshooting` begins with the classes.
"""


def page():
    """One table for each enumeration of codes."""
    parts = [underlined("Error codes", "="), INTRODUCTION]
    tables = [section(module, name) for module, name in sorted_by_use(enumerations())]
    return "\n".join([*parts, *tables, nvml_errors.section()])


def sorted_by_use(found):
    """The driver's first, which most readers come for."""
    order = ("cuda.bindings.driver", "cuda.bindings.runtime", "cuda.bindings.nvrtc")
    places = {name: place for place, name in enumerate(order)}
    return sorted(found, key=lambda each: places.get(each[0].__name__, len(order)))


def enumerations():
    """(module, name) of those whose members the generator explains."""
    for library in load_all().values():
        if library.is_face:
            continue
        module = import_module(f"{library.package}.{library.module}")
        for name in library.decisions.enum_docs:
            # modules whose functions raise have it without the prefix of the library
            fitting = [n for n in dir(module) if name.endswith(n) and n[0].isalpha()]
            yield module, max(fitting, key=len)


def section(module, name):
    members = getattr(module, name).__members__.items()
    rows = [[f"``{code}``", " ".join((member.__doc__ or "").split())] for code, member in members]
    head = underlined(f"{module.__name__}.{name}", "-")
    return f"{head}\n{list_table(['code', 'what it means, and what to do'], rows, [34, 66])}"
