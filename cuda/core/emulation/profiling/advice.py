# SPDX-License-Identifier: Apache-2.0
"""Advice on slow accesses, only where the counters of a line prove it."""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING

from cuda.core.emulation.profiling.counters import OPERATIONS, SECTOR_BYTES, opcode_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cuda.core.emulation.execution_record import Instruction

WARP_SIZE = 32
BANKS, WORD_BYTES = 32, 4
REDUCTIONS = {"add", "min", "max", "and", "or", "xor"}


def advice_on(file: str, line: int, code: Iterable[Instruction]) -> Iterator[str]:
    """Yield the advice on the instructions of a line, each with its position."""
    seen = set()
    for instruction in code:
        for text in _advice_on(instruction):
            if text not in seen:
                seen.add(text)
                yield f"{file}:{line}: {text}"


def _advice_on(instruction: Instruction) -> Iterator[str]:
    operation = OPERATIONS.get(opcode_of(instruction.text)[0])
    if operation is None or not instruction.counters:
        return
    if operation in ("load", "store"):
        yield from _on_sectors(instruction, operation)
        yield from _on_banks(instruction, operation)
    else:
        yield from _on_addresses(instruction)


def _bytes_of_a_lane(instruction: Instruction, space: str) -> int:
    return instruction.counters[f"{space}_bytes"] // instruction.active_lanes


def _on_sectors(instruction, operation):
    counters, step = instruction.counters, instruction.lane_step
    requests = counters.get("global_requests", 0)
    is_full = instruction.active_lanes == WARP_SIZE * instruction.executions
    if not isinstance(step, int) or requests != instruction.executions or not is_full:
        return
    size, sectors = _bytes_of_a_lane(instruction, "global"), counters["global_sectors"]
    least = requests * WARP_SIZE * size // SECTOR_BYTES
    if sectors <= least:
        return
    each = (
        f"{sectors / requests:g} sectors of {SECTOR_BYTES} bytes for each request instead of "
        f"{least // requests}"
    )
    if abs(step) > size:
        yield (
            f"neighboring lanes {operation} {size} bytes at a distance of {abs(step)} bytes, which "
            f"needs {each}; let neighboring lanes access neighboring elements"
        )
    elif abs(step) == size:
        yield (
            f"the {operation}s of a warp start inside a sector, which needs {each}; a start at a "
            f"multiple of {SECTOR_BYTES} bytes avoids it"
        )


def _on_banks(instruction, operation):
    conflicts, step = instruction.counters.get("shared_conflicts", 0), instruction.lane_step
    if not conflicts or not isinstance(step, int):
        return
    size = _bytes_of_a_lane(instruction, "shared")
    if size != WORD_BYTES or step % WORD_BYTES:
        return
    words = abs(step) // WORD_BYTES
    text = (
        f"neighboring lanes {operation} words of shared memory at a distance of {words} words: "
        f"{gcd(words, BANKS)} lanes share a bank, and the {operation}s have {conflicts} conflicts"
    )
    if gcd(words + 1, BANKS) == 1:
        text += f"; a padded row of {words + 1} words has none"
    yield text


def _on_addresses(instruction):
    counters = instruction.counters
    executions = instruction.active_executions
    is_one_address = counters.get("atomic_addresses") == executions
    is_reduction = REDUCTIONS & set(opcode_of(instruction.text))
    if is_one_address and counters.get("atomic_repeats") and is_reduction:
        yield (
            f"all lanes of a warp update one address: {instruction.active_lanes} operations, of "
            f"which {executions} remain if the warp combines its values first"
        )
