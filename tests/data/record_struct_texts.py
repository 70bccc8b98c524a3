# SPDX-License-Identifier: Apache-2.0
"""Records the lists and texts of the struct classes of an installed cuda-bindings.

    python tests/data/record_struct_texts.py > tests/data/struct_texts_13.5.json

Run it with an interpreter that has NVIDIA's package; the test of our classes runs it with ours.
"""

import ctypes
import importlib
import json
import re
import sys

MODULES = ["driver", "runtime", "nvrtc", "nvml", "cufile", "cudla"]


def is_struct(thing):
    """Return whether it is a class of structs: it has an address and is no number."""
    if not isinstance(thing, type) or thing.__name__.startswith("_"):
        return False
    return hasattr(thing, "from_ptr") or (
        hasattr(thing, "getPtr") and not hasattr(thing, "__int__")
    )


def text_of(struct):
    """Return the printed text; None for a class that prints only an address."""
    try:
        text = str(struct)
    except TypeError as error:
        return f"<{type(error).__name__}>"
    return None if re.search(r" object at 0x\w+>$", text) else text


def described(cls):
    """Return public names and text of a new struct; a struct that is never created alone views
    zeros."""
    zeros = ctypes.create_string_buffer(4096)
    try:
        struct = cls()
    except TypeError:
        struct = cls(_ptr=ctypes.addressof(zeros))
    return {
        "names": [name for name in dir(struct) if not name.startswith("_")],
        "text": text_of(struct),
    }


def record():
    out = {}
    for name in MODULES:
        module = importlib.import_module(f"cuda.bindings.{name}")
        classes = {n: getattr(module, n) for n in sorted(dir(module))}
        out[name] = {n: described(cls) for n, cls in classes.items() if is_struct(cls)}
    return out


def main():
    """Write one line per class."""
    modules = [
        f'"{module}": {{\n'
        + ",\n".join(f' "{name}": {json.dumps(row)}' for name, row in rows.items())
        + "\n}"
        for module, rows in record().items()
    ]
    sys.stdout.write("{\n" + ",\n".join(modules) + "\n}\n")


if __name__ == "__main__":
    main()
