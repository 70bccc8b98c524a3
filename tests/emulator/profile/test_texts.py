# SPDX-License-Identifier: Apache-2.0
"""Records and tables of a profile, in full: a written record has exactly these contents."""

from types import SimpleNamespace

from cuda.core.emulation.execution_record import (
    Branch,
    Function,
    Instruction,
    Kernel,
    Location,
    kernels_of,
)
from cuda.core.emulation.profiling import text

PTX = """.section .debug_str
{
info_string0: // the name of an inlined function
.b8 116,119,105,99,101 // twice
.b8 0
}
"""
INSTRUCTIONS = [
    # line, location, text, whether it is guarded, targets
    [4, 0, "mov.u32\t%r1,   %tid.x;", False, []],
    [5, 1, "@%p1 bra $L1;", True, [9]],
    [6, None, "atom.global.add.u32 %r2, [%rd1], %r1;", False, []],
    [7, None, "@%p1 atom.global.add.u32 %r3, [%rd1], %r1;", True, []],
    [8, None, "atom.global.add.u32 _, [%rd1], %r3;", False, []],
    [9, None, "bra $L1;", False, [9]],
]
COUNTS = [
    # executions, lanes, the same with a true guard, taken, not taken, divergent, counters, step
    [2, 64, 0, 0, 0, 0, 0],
    [2, 64, 1, 20, 3, 4, 5],
    [1, 32, 1, 32, 0, 0, 0, 7, 0, 4],
    [1, 30, 1, 9, 0, 0, 0],
    [1, 31, 1, 31, 0, 0, 0],
    [6, 60, 6, 60, 6, 0, 0],
]
RECORD = {
    "counters": ["sectors", "requests"],
    "modules": [
        {
            "ptx": PTX,
            "files": [[1, "a.cu"], [2, "b.h"]],
            "functions": [
                {
                    "name": "_Z3addv",
                    "demangled": "void space::add<int>(int)",
                    "is_kernel": True,
                    "locations": [[1, 3, 5, None], [2, 8, 1, "info_string0", 1, 4, 2]],
                    "instructions": INSTRUCTIONS,
                },
                {
                    "name": "other",
                    "demangled": "other",
                    "is_kernel": True,
                    "locations": [],
                    "instructions": [[20, None, "ret;", False, []]],
                },
                {
                    "name": "empty",
                    "demangled": "empty",
                    "is_kernel": True,
                    "locations": [],
                    "instructions": [],
                },
            ],
        }
    ],
    "kernels": [
        {
            "module": 0,
            "launches": 3,
            "functions": [{"function": 0, "counts": COUNTS}],
            "grid": [2, 1, 1],
            "block": [32, 1, 1],
        }
    ],
}


def test_a_record_becomes_these_kernels():
    outer = Location("a.cu", 3, 5)
    inlined = Location("b.h", 8, 1, "twice", ("a.cu", 4, 2))
    instructions = [
        Instruction(4, "mov.u32 %r1, %tid.x;", outer, 2, 64, 2, 64),
        Instruction(5, "@%p1 bra $L1;", inlined, 2, 64, 1, 20, Branch((9,), True, 3, 4, 5)),
        Instruction(6, "atom.global.add.u32 %r2, [%rd1], %r1;", None, 1, 32, 1, 32),
        Instruction(7, "@%p1 atom.global.add.u32 %r3, [%rd1], %r1;", None, 1, 30, 1, 9),
        Instruction(8, "atom.global.add.u32 _, [%rd1], %r3;", None, 1, 31, 1, 31),
        Instruction(9, "bra $L1;", None, 6, 60, 6, 60, Branch((9,), False, 6, 0, 0)),
    ]
    instructions[2].counters, instructions[2].lane_step = {"sectors": 7}, 4
    instructions[2].is_result_unused = instructions[4].is_result_unused = True
    add = Function("_Z3addv", True, instructions)
    other = Function("other", True, [Instruction(20, "ret;", None)])
    assert kernels_of(RECORD) == [
        Kernel("_Z3addv", "add", 3, [add], PTX, (2, 1, 1), (32, 1, 1)),
        Kernel("other", "other", 0, [other], PTX),
    ]


def test_kernels_that_were_not_launched_have_no_counts():
    (instruction,) = kernels_of(RECORD)[1].functions[0].instructions
    counts = (instruction.executions, instruction.lanes)
    active = (instruction.active_executions, instruction.active_lanes)
    assert counts == active == (0, 0)
    assert (instruction.branch, instruction.counters, instruction.lane_step) == (None, {}, None)
    branch = Branch((1, 2), True)
    assert (branch.taken, branch.not_taken, branch.divergent) == (0, 0, 0)


def counts_of(**values):
    return SimpleNamespace(**{**dict.fromkeys(text.COLUMNS.values(), 0), **values})


LINES = [
    counts_of(instructions=0, line=1, source="unused"),
    counts_of(
        instructions=64,
        lanes_per_instruction=31.25,
        global_efficiency=0.5,
        line=9,
        source="  a[i] = 0;",
    ),
    counts_of(instructions=1234, lanes_per_instruction=32.0, line=10, source="x" * 60),
]


def test_the_table_of_lines():
    rows = text.table_of_lines(SimpleNamespace(lines=LINES)).split("\n")
    assert rows == [
        f"line  {'source':<48}  instructions  lanes  efficiency",
        f"   9  {'a[i] = 0;':<48}            64   31.2         50%",
        f"  10  {'x' * 48}          1234     32",
    ]


def test_the_table_of_kernels():
    kernels = [
        counts_of(name="long_name", launches=1, instructions=5),
        counts_of(name="b", launches=12, instructions=50),
    ]
    assert text.table_of(kernels, ["advice"]).split("\n") == [
        "kernel     launches  instructions",
        "long_name         1             5",
        "b                12            50",
        "advice",
    ]
    assert text.table_of([], []) == "no kernel was launched"
