# SPDX-License-Identifier: Apache-2.0
"""Cost of a cimported function: a load of its slot and a jump, read from the machine code."""

import ctypes
import platform
import re
import shutil
import subprocess

import pytest
from cuda.bindings import cydriver, cynvrtc

from generator import libraries

# Instructions that load the table's address, adjust the arguments, and jump, and nothing else: the
# form of the jump, the instructions allowed before it, and their number without adjustment.
MACHINES = {
    "x86_64": (
        ("jmp", "*"),
        {"mov", "movabs", "movzbl", "movzwl", "movsbl", "movswl", "movdqu", "movaps", "movups"},
        2,
    ),
    "aarch64": (
        ("br", "x"),
        {"adrp", "ldr", "mov", "and", "uxtb", "uxth", "sxtb", "sxth"},
        5,
    ),
}

pytestmark = [
    pytest.mark.skipif(platform.machine() not in MACHINES, reason="reads machine code"),
    pytest.mark.skipif(not shutil.which("objdump"), reason="objdump is not installed"),
]


def capsule_addresses(module):
    """Map each C function to its address within the module's file, from its capsules."""
    get_pointer, get_name = (
        ctypes.pythonapi.PyCapsule_GetPointer,
        ctypes.pythonapi.PyCapsule_GetName,
    )
    get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    get_name.restype, get_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    with open("/proc/self/maps") as maps:
        base = min(int(line.split("-")[0], 16) for line in maps if module.__file__ in line)
    return {n: get_pointer(c, get_name(c)) - base for n, c in module.__pyx_capi__.items()}


def mnemonics(module):
    """Return (address, mnemonic, operands) of every instruction of the module's file."""
    shown = subprocess.run(
        ["objdump", "-d", "--no-show-raw-insn", module.__file__],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    result = re.findall(r"^\s+([0-9a-f]+):\s+(\S+)[ \t]*(\S*)", shown, re.MULTILINE)
    return [(int(address, 16), name, operands) for address, name, operands in result]


def functions_with_structs(library):
    """Return functions with a struct by value, which some compilers copy before the jump."""
    structs = {s.name for s in libraries.load(library).structs}
    functions = libraries.load(library).functions
    return {f.name for f in functions if any(p.c_type in structs for p in f.params)}


@pytest.mark.parametrize("module", [cydriver, cynvrtc], ids=lambda m: m.__name__.split(".")[-1])
def test_each_stub_is_one_jump_through_its_slot(module):
    jump, adjustments, shortest = MACHINES[platform.machine()]
    instructions = mnemonics(module)
    position = {address: i for i, (address, _, _) in enumerate(instructions)}
    copying, lengths = functions_with_structs(module.__name__.rpartition(".cy")[2]), []
    for name, address in capsule_addresses(module).items():
        start = position[address]
        start += instructions[start][1] == "endbr64"  # a marker that some compilers emit by default
        if name in copying:
            continue
        i = start
        while instructions[i][1] in adjustments:
            i += 1
        _, mnemonic, target = instructions[i]
        assert (mnemonic, target[:1]) == jump, f"{name}: {instructions[start : i + 1]}"
        lengths.append(i + 1 - start)
    short = sum(length <= shortest for length in lengths)
    assert short >= 0.95 * len(lengths), (
        f"{short} of {len(lengths)} stubs have {shortest} instructions"
    )
