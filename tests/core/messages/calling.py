# SPDX-License-Identifier: Apache-2.0
"""Child process: runs the wrong calls of an area on the emulator; JSON of their outcomes."""

import json
import os
import re
import sys
import tomllib
import warnings
from pathlib import Path

HERE = Path(__file__).parent
REPOSITORY = HERE.parents[2]

# Values that differ between processes or machines: (pattern, replacement).
CHANGING_VALUES = (
    (re.compile(re.escape(f"{REPOSITORY}/")), ""),
    (re.compile(r"/\S*/(?=lib(nvrtc|nvJitLink|nvvm)\S*\.so)"), ".../"),
    (re.compile(r"0x[0-9a-f]{5,}"), "0x..."),
    (re.compile(r"\b(process|thread|checkpoint:) \d+\b"), r"\1 N"),
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}\b"), "UUID"),
    (re.compile(r"\bCUDA 1\d\.\d+\b"), "CUDA N.N"),
    (re.compile(r"(?<=complex dtypes) \(or dtypes registered .*\)"), ""),  # text of NumPy 2.4
)


def normalize(text):
    for pattern, replacement in CHANGING_VALUES:
        text = pattern.sub(replacement, text)
    return "\n".join(line.rstrip() for line in text.splitlines())


def result_of(code, names):
    """Return the error code that a call of `cuda.bindings` returns, else "silent"."""
    try:
        expression = compile(code, "<call>", "eval")
    except SyntaxError:
        exec(code, names)
        return "silent"
    value = eval(expression, names)
    if isinstance(value, tuple) and value and hasattr(value[0], "name") and value[0] != 0:
        return f"returns {value[0].name}: {value[0].__doc__}"
    return "silent"


def outcome_of(code, names):
    """Return what a caller sees: warnings, the exception with its notes, or "silent"."""
    lines = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            lines.append(result_of(code, names))
        except Exception as error:
            lines.append(f"{type(error).__name__}: {error}")
            lines += [f"note: {note}" for note in getattr(error, "__notes__", ())]
    lines += [f"{each.category.__name__}: {each.message}" for each in caught]
    if caught and lines[0] == "silent":
        lines[0] = "accepted with a warning"
    return normalize("\n".join(lines))


def main():
    os.environ.update(HALFWARP_BACKEND="emulator", HALFWARP_EMULATOR_DEVICES="2")
    area = tomllib.loads((HERE / "calls" / f"{sys.argv[1]}.toml").read_text())
    selected = sys.argv[2:] or list(area["calls"])
    names = {}
    exec((HERE / "objects.py").read_text(), names)
    exec(area.get("setup", ""), names)
    json.dump({name: outcome_of(area["calls"][name], dict(names)) for name in selected}, sys.stdout)


main()
