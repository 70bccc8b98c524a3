# SPDX-License-Identifier: Apache-2.0
"""What the public modules of an installed package offer, as data.

``python tests/data/record_surface.py cuda.core > tests/data/core_surface_1.2.2.json`` with NVIDIA's
package installed, on the emulated driver. Nothing is recorded but what Python tells: names, members
of classes, parameters of callables, members of enumerations with their values.
"""

import importlib
import inspect
import json
import pkgutil
import sys
import types
import warnings


def modules(package):
    """The public modules, by name."""
    found = {package}
    where = importlib.import_module(package).__path__
    for each in pkgutil.walk_packages(where, f"{package}."):
        parts = each.name.split(".")
        if not any(part.startswith(("_", "lib")) for part in parts):  # libcuda_emulated.so
            found.add(each.name)
    return sorted(found)


def parameters_of(what):
    """Each parameter: its name, a star for what takes the rest, ``=`` after one with a default.

    None where Python cannot tell.
    """
    try:
        told = inspect.signature(what).parameters.values()
    except (ValueError, TypeError):
        return None
    made = []
    for each in told:
        stars = {each.VAR_POSITIONAL: "*", each.VAR_KEYWORD: "**"}.get(each.kind, "")
        only = "kw " if each.kind is each.KEYWORD_ONLY else ""
        made.append(f"{only}{stars}{each.name}{'=' if each.default is not each.empty else ''}")
    return made


def class_of(what):
    if hasattr(what, "__members__"):
        return {"values": {name: str(each.value) for name, each in what.__members__.items()}}
    told = {"members": {}, "parameters": parameters_of(what)}
    fields = getattr(what, "__dataclass_fields__", ())
    for name in sorted({*dir(what), *fields}):
        if name.startswith("_"):
            continue
        member = inspect.getattr_static(what, name, None)
        if isinstance(member, (classmethod, staticmethod, types.ClassMethodDescriptorType)):
            member = getattr(what, name)
        told["members"][name] = parameters_of(member) if callable(member) else None
    return told


def surface(name):
    module = importlib.import_module(name)
    names = getattr(module, "__all__", None) or [n for n in dir(module) if not n.startswith("_")]
    told = {}
    for each in sorted(names):
        what = getattr(module, each)
        if inspect.isclass(what):
            told[each] = class_of(what)
        elif callable(what):
            told[each] = {"parameters": parameters_of(what)}
        else:
            told[each] = {}
    return told


def main():
    warnings.simplefilter("ignore")
    told = {name: surface(name) for name in modules(sys.argv[1])}
    lines = []
    for module, names in told.items():
        rows = [f'"{name}": {json.dumps(row, sort_keys=True)}' for name, row in names.items()]
        lines.append(f'"{module}": {{\n' + ",\n".join(rows) + "\n}")
    print("{\n" + ",\n".join(lines) + "\n}")


if __name__ == "__main__":
    main()
