# SPDX-License-Identifier: Apache-2.0
"""Every class of the low layer: bases, names, size, text when created without arguments."""

import re

from cuda.bindings import driver, nvrtc
from describing import Names

# The reference cannot create or print these; a pointer in the second prints as its target.
UNPRINTABLE = ("CUeglFrame", "CUmemDecompressParams", "CUstreamMemOp")
FILLING = re.compile(r"(reserved|pad)\w* ")


def classes():
    for module in (driver, nvrtc):
        for name in dir(module):
            cls = getattr(module, name)
            if isinstance(cls, type) and name.startswith(
                ("CU", "GL", "EGL", "Vdp", "cuu", "nvrtc")
            ):
                yield module, name, cls


def enums():
    return ((name, cls) for _, name, cls in classes() if hasattr(cls, "__members__"))


def others():
    return ((name, cls) for _, name, cls in classes() if not hasattr(cls, "__members__"))


def names():
    return Names(name for _, name, _ in classes())


def sizes():
    return Names(f"{name}={module.sizeof(cls)}" for module, name, cls in classes() if sized(cls))


def sized(cls):
    """Exclude the enums, and the structs whose size the reference does not know."""
    return not hasattr(cls, "__members__") and not cls.__name__.startswith("CUstreamMemOp")


def members():
    return Names(
        f"{name}.{member}={int(value)}"
        for name, cls in enums()
        for member, value in cls.__members__.items()
    )


def first_names():
    return Names(f"{name}.{member.name}" for name, cls in enums() for member in cls)


def fields():
    return Names(
        f"{name}.{field}" for name, cls in others() for field in dir(cls) if field[0] != "_"
    )


def bases():
    return Names(f"{name}({base.__name__})" for name, cls in others() for base in cls.__mro__)


def texts():
    """Return a new object as text; ours has the reserved fields, shows values without an
    enumerator, and every pointer in hex."""
    result = set()
    for name, cls in others():
        if name.startswith(UNPRINTABLE):
            continue
        try:
            text = repr(cls())
        except Exception as error:
            text = f"{type(error).__name__}: {error}"
        lines = [line for line in text.splitlines() if not FILLING.match(line.strip()) and line]
        text = ",".join(lines).replace(": 0x0", ": 0")
        text = re.sub(r"0x[0-9a-f]{6,}", "ADDRESS", text)
        text = re.sub(r"<ValueError>|<\w+\.UNKNOWN_\d+: \d+>", "UNKNOWN", text)
        result.add(f"{name}:{text.replace(' ', '')}")
    return Names(result)


CASES = [names, sizes, members, first_names, fields, bases, texts]
