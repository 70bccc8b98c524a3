# SPDX-License-Identifier: Apache-2.0
"""The counters of a profile: their definitions, and what one PTX instruction adds to each."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cuda.core.emulation.execution_record import Instruction

SECTOR_BYTES = 32
OPERATIONS = {
    "cp": "copy",
    "ld": "load",
    "ldu": "load",
    "ldmatrix": "load",
    "st": "store",
    "stmatrix": "store",
    "atom": "atomic",
    "red": "reduction",
}
CLASSES = {
    "memory": "ld ldu st atom red cp prefetch prefetchu tex tld4 txq suld sust sured suq cvta "
    "isspacep ldmatrix stmatrix multimem mapa getctarank discard applypriority",
    "control": "bra brx ret exit call trap brkpt nanosleep",
    "warp": "bar barrier shfl vote match redux activemask elect fence membar mbarrier "
    "griddepcontrol",
    "matrix": "mma wmma wgmma tcgen05 movmatrix",
    "conversion": "cvt",
    "move": "mov selp prmt",
    "comparison": "setp set testp slct",
}
CLASS_OF = {opcode: name for name, opcodes in CLASSES.items() for opcode in opcodes.split()}
PRECISIONS = {
    "f64": ("double_precision", 1),
    "f32": ("single_precision", 1),
    "f32x2": ("single_precision", 2),
    "f16": ("half_precision", 1),
    "bf16": ("half_precision", 1),
    "f16x2": ("half_precision", 2),
    "bf16x2": ("half_precision", 2),
}
WITHOUT_REDUCTION = {"exch", "cas"}
FLOAT_OPCODES = {"add": "add", "sub": "add", "mul": "mul", "fma": "fma", "mad": "fma"}


@dataclass(frozen=True)
class Definition:
    """The meaning of a counter, and the metric of ncu that counts the same."""

    text: str
    metric: str = ""


def _copy_definitions():
    of = "copies from global to shared memory (cp.async)"
    name = "smsp__sass_l1tex_{}_mem_{}_op_ldgsts.sum".format
    yield "global_copy_requests", f"{of}, by a warp", name("t_requests_pipe_lsu", "global")
    yield (
        "global_copy_sectors",
        f"different 32-byte sectors in each request of {of}",
        name("t_sectors_pipe_lsu", "global"),
    )
    yield "global_copy_lines", f"different 128-byte lines in each request of {of}", ""
    yield "global_copy_bytes", f"bytes that the lanes read by {of}", ""
    yield "shared_copy_requests", f"{of}, by a warp", ""
    yield (
        "shared_copy_wavefronts",
        f"passes over the banks that {of} need",
        name("data_pipe_lsu_wavefronts", "shared"),
    )
    yield (
        "shared_copy_conflicts",
        f"passes beyond the first of each group, of {of}",
        name("data_bank_conflicts_pipe_lsu", "shared"),
    )
    yield "shared_copy_bytes", f"bytes that the lanes write by {of}", ""


def _access_definitions():
    l1 = "l1tex__{}_pipe_lsu_mem_{}_op_{}.sum"
    short = {"load": "ld", "store": "st", "atomic": "atom", "reduction": "red"}
    for operation, word in short.items():
        name, of = f"global_{operation}", f"{operation}s of global memory"
        yield f"{name}_requests", f"{of}, by a warp", l1.format("t_requests", "global", word)
        yield (
            f"{name}_sectors",
            f"different 32-byte sectors in each request of {of}",
            l1.format("t_sectors", "global", word),
        )
        yield f"{name}_lines", f"different 128-byte lines in each request of {of}", ""
        yield f"{name}_bytes", f"bytes that the lanes access by {of}", ""
    for operation in ("load", "store"):
        word, name = short[operation], f"local_{operation}"
        of = f"{operation}s of local memory"
        yield f"{name}_requests", f"{of}, by a warp", l1.format("t_requests", "local", word)
        yield (
            f"{name}_sectors",
            f"different 32-byte sectors in each request of {of}",
            l1.format("t_sectors", "local", word),
        )
        yield f"{name}_bytes", f"bytes that the lanes access by {of}", ""
    for operation in ("load", "store", "atomic"):
        word, name = short[operation], f"shared_{operation}"
        of = f"{operation}s of shared memory"
        yield (
            f"{name}_requests",
            f"{of}, by a warp",
            f"smsp__sass_inst_executed_op_shared_{word}.sum",
        )
        yield (
            f"{name}_wavefronts",
            f"passes over the banks that {of} need",
            f"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{word}.sum",
        )
        yield (
            f"{name}_conflicts",
            f"passes beyond the first of each group, of {of}",
            l1.format("data_bank_conflicts", "shared", word),
        )
        yield f"{name}_bytes", f"bytes that the lanes access by {of}", ""


def _float_definitions():
    letters = {"double_precision": "d", "single_precision": "f", "half_precision": "h"}
    for precision, letter in letters.items():
        for operation in ("add", "mul", "fma"):
            yield (
                f"{precision}_{operation}",
                f"{precision.replace('_', ' ')} {operation}, by lane",
                f"smsp__sass_thread_inst_executed_op_{letter}{operation}_pred_on.sum",
            )


DEFINITIONS = {
    "instructions": Definition(
        "PTX instructions that a warp, or a part of it, executed", "smsp__inst_executed.sum"
    ),
    "thread_instructions": Definition(
        "PTX instructions by lane, without lanes whose guard is false",
        "smsp__thread_inst_executed_pred_on.sum",
    ),
    **{
        f"{name}_instructions": Definition(f"instructions of the class: {name}")
        for name in ("arithmetic", *CLASSES)
    },
    "branches": Definition("conditional branches, by a warp", "smsp__sass_branch_targets.sum"),
    "divergent_branches": Definition(
        "branches that a part of the warp took", "smsp__sass_branch_targets_threads_divergent.sum"
    ),
    "barriers": Definition("arrivals of a warp at a barrier of its block"),
    "atomic_addresses": Definition("different addresses in each atomic access of a warp"),
    "atomic_repeats": Definition(
        "lanes with the most frequent address of each atomic access of a warp, less one"
    ),
    **{name: Definition(text, metric) for name, text, metric in _access_definitions()},
    **{name: Definition(text, metric) for name, text, metric in _copy_definitions()},
    **{name: Definition(text, metric) for name, text, metric in _float_definitions()},
    "matrix_operations": Definition("multiplications and additions of matrix instructions"),
}

SUMS = {
    "global_requests": r"global_\w+_requests",
    "global_sectors": r"global_\w+_sectors",
    "global_lines": r"global_\w+_lines",
    "global_bytes": r"global_\w+_bytes",
    "shared_requests": r"shared_\w+_requests",
    "shared_bytes": r"shared_\w+_bytes",
    "bank_conflicts": r"shared_\w+_conflicts",
    "local_requests": r"local_\w+_requests",
    "local_bytes": r"local_\w+_bytes",
    "atomics": r"(global|shared)_(atomic|reduction)_requests",
}
SUM_METRICS = {
    "global_lines": "smsp__sass_l1tex_tags_mem_global.sum",
    "bank_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
}
SUMMANDS = {
    name: [each for each in DEFINITIONS if re.fullmatch(pattern, each)]
    for name, pattern in SUMS.items()
}


def opcode_of(text: str) -> list[str]:
    """Return the parts of the mnemonic of a PTX instruction."""
    words = text.split()
    return words[1 if words[0].startswith("@") else 0].rstrip(";").split(".")


def values_of(instruction: Instruction) -> Counter:
    """Return the counters of one instruction."""
    parts = opcode_of(instruction.text)
    opcode, lanes = parts[0], instruction.active_lanes
    values = Counter(instructions=instruction.executions, thread_instructions=lanes)
    values[f"{CLASS_OF.get(opcode, 'arithmetic')}_instructions"] += instruction.executions
    if instruction.branch and instruction.branch.is_conditional:
        values["branches"] += instruction.executions
        values["divergent_branches"] += instruction.branch.divergent
    if opcode in ("bar", "barrier") and not {"warp", "cluster", "arrive"} & set(parts):
        values["barriers"] += instruction.active_executions
    _add_accesses(values, _operation_of(instruction, parts), instruction.counters)
    if opcode in FLOAT_OPCODES and parts[-1] in PRECISIONS:
        precision, elements = PRECISIONS[parts[-1]]
        values[f"{precision}_{FLOAT_OPCODES[opcode]}"] += elements * lanes
    if CLASS_OF.get(opcode) == "matrix":
        values["matrix_operations"] += _matrix_operations(instruction, parts)
    return values


def _operation_of(instruction, parts):
    """Return the operation of an access: an atomic one without a result is a reduction."""
    if instruction.is_result_unused and not WITHOUT_REDUCTION & set(parts):
        return "reduction"
    return OPERATIONS.get(parts[0])


def _add_accesses(values, operation, counters):
    for name, value in counters.items():
        space, _, unit = name.partition("_")
        if space == "atomic":
            values[name] += value
            continue
        # red and atom of shared memory are one instruction of the machine
        kind = "atomic" if space == "shared" and operation == "reduction" else operation
        values[f"{space}_{kind}_{unit}"] += value


def _matrix_operations(instruction, parts):
    shape = next((m for m in (re.fullmatch(r"m(\d+)n(\d+)k(\d+)", p) for p in parts) if m), None)
    if shape is None or not {"mma", "mma_async"} & set(parts):
        return 0
    rows, columns, depth = map(int, shape.groups())
    warps = 4 if "mma_async" in parts else 1
    return instruction.active_executions * 2 * rows * columns * depth // warps
