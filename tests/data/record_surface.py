# SPDX-License-Identifier: Apache-2.0
"""API of the public modules of an installed package, as data.

``python tests/data/record_surface.py cuda.core > tests/data/core_surface_1.2.2.json`` with
NVIDIA's package installed, on the emulated driver. It records only introspected facts: names,
members of classes, parameters of callables, members of enumerations with their values.
"""

import importlib
import inspect
import json
import pkgutil
import sys
import types
import warnings


def modules(package):
    """Return the public modules, by name."""
    result = {package}
    path = importlib.import_module(package).__path__
    for each in pkgutil.walk_packages(path, f"{package}."):
        parts = each.name.split(".")
        if not any(part.startswith(("_", "lib")) for part in parts):  # libcuda_emulated.so
            result.add(each.name)
    return sorted(result)


def parameters_of(function):
    """Return each parameter: its name, a star for variadic ones, ``=`` after one with a default.

    None where Python cannot determine them.
    """
    try:
        parameters = inspect.signature(function).parameters.values()
    except (ValueError, TypeError):
        return None
    texts = []
    for each in parameters:
        stars = {each.VAR_POSITIONAL: "*", each.VAR_KEYWORD: "**"}.get(each.kind, "")
        only = "kw " if each.kind is each.KEYWORD_ONLY else ""
        texts.append(f"{only}{stars}{each.name}{'=' if each.default is not each.empty else ''}")
    return texts


def class_of(cls):
    if hasattr(cls, "__members__"):
        return {"values": {name: str(each.value) for name, each in cls.__members__.items()}}
    record = {"members": {}, "parameters": parameters_of(cls)}
    fields = getattr(cls, "__dataclass_fields__", ())
    for name in sorted({*dir(cls), *fields}):
        if name.startswith("_"):
            continue
        member = inspect.getattr_static(cls, name, None)
        if isinstance(member, (classmethod, staticmethod, types.ClassMethodDescriptorType)):
            member = getattr(cls, name)
        record["members"][name] = parameters_of(member) if callable(member) else None
    return record


def surface(name):
    module = importlib.import_module(name)
    names = getattr(module, "__all__", None) or [n for n in dir(module) if not n.startswith("_")]
    members = {}
    for each in sorted(names):
        member = getattr(module, each)
        if inspect.isclass(member):
            members[each] = class_of(member)
        elif callable(member):
            members[each] = {"parameters": parameters_of(member)}
        else:
            members[each] = {}
    return members


def main():
    warnings.simplefilter("ignore")
    surfaces = {name: surface(name) for name in modules(sys.argv[1])}
    lines = []
    for module, names in surfaces.items():
        rows = [f'"{name}": {json.dumps(row, sort_keys=True)}' for name, row in names.items()]
        lines.append(f'"{module}": {{\n' + ",\n".join(rows) + "\n}")
    print("{\n" + ",\n".join(lines) + "\n}")


if __name__ == "__main__":
    main()
