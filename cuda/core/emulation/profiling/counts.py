# SPDX-License-Identifier: Apache-2.0
"""Counters of the instructions of a kernel or line."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from cuda.core.emulation.profiling.advice import advice_on
from cuda.core.emulation.profiling.counters import DEFINITIONS, SECTOR_BYTES, SUMMANDS, values_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cuda.core.emulation.execution_record import Instruction, Kernel

PTX = "PTX"  # in place of a file, for code without line information


class Counts:
    """Counters of some instructions, as attributes.

    Every counter is an ``int``: :doc:`/guide/profile` defines each. ``bank_conflicts``,
    ``global_sectors`` and other sums combine loads, stores and atomic operations.
    """

    def __init__(self, instructions: Iterable[Instruction]) -> None:
        self._instructions = list(instructions)

    @cached_property
    def _values(self) -> Counter[str]:
        values: Counter[str] = Counter()
        for instruction in self._instructions:
            values.update(values_of(instruction))
        return values

    def __getattr__(self, name: str) -> int:
        if name in DEFINITIONS:
            return self._values[name]
        if name in SUMMANDS:
            return sum(self._values[each] for each in SUMMANDS[name])
        raise AttributeError(f"a profile has no counter {name!r}; dir() lists its counters")

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *DEFINITIONS, *SUMMANDS})

    def as_dict(self) -> dict[str, int]:
        """Return the counters that are not 0, by name. Host only."""
        values = {name: self._values[name] for name in DEFINITIONS}
        sums = {name: getattr(self, name) for name in SUMMANDS}
        return {name: value for name, value in {**values, **sums}.items() if value}

    @property
    def lanes_per_instruction(self) -> float:
        """Mean of the lanes that execute an instruction: 32 without divergence."""
        return _ratio(self.thread_instructions, self.instructions)

    @property
    def sectors_per_request(self) -> float:
        """Mean of the 32-byte sectors that a request of global memory touches."""
        return _ratio(self.global_sectors, self.global_requests)

    @property
    def global_efficiency(self) -> float:
        """Bytes that lanes access, by bytes of the sectors. Above 1 if lanes share bytes."""
        return _ratio(self.global_bytes, SECTOR_BYTES * self.global_sectors)

    @property
    def operations(self) -> int:
        """Floating-point operations by lane; a fused multiply-add is two."""
        values = self._values
        weights = {"add": 1, "mul": 1, "fma": 2}
        return values["matrix_operations"] + sum(
            weight * values[f"{precision}_precision_{operation}"]
            for precision in ("half", "single", "double")
            for operation, weight in weights.items()
        )

    @property
    def operations_per_byte(self) -> float:
        """Floating-point operations for each byte of global memory that lanes access."""
        return _ratio(self.operations, self.global_bytes)


class LineCounts(Counts):
    """Counters of one line of the source.

    Parameters
    ----------
    code
        The instructions of the line.

    Attributes
    ----------
    file, line, source : str, int, str
        Position, and the text of the line if the file can be read. Without line information,
        ``file`` is ``"PTX"`` and ``line`` the line of the PTX.
    """

    def __init__(self, file: str, line: int, source: str, code: list[Instruction]) -> None:
        super().__init__(code)
        self.file, self.line, self.source = file, line, source

    def __repr__(self) -> str:
        return f"<{self.file}:{self.line} {self.as_dict()}>"


class KernelCounts(Counts):
    """Counters of all launches of a kernel, with the functions that it calls.

    Parameters
    ----------
    record
        The counts of its instructions.

    Attributes
    ----------
    name, full_name : str
        Short name, and the name in the PTX.
    launches : int
    """

    def __init__(self, record: Kernel) -> None:
        super().__init__(each for function in record.functions for each in function.instructions)
        self.name, self.full_name, self.launches = record.short_name, record.name, record.launches
        self.grid, self.block = record.grid, record.block
        self._ptx = record.ptx

    @cached_property
    def lines(self) -> list[LineCounts]:
        """The lines of the source that have code, by file and number."""
        places: dict[tuple[str, int], list[Instruction]] = {}
        for each in self._instructions:
            at = each.location
            key = (at.file, at.line) if at and at.line else (PTX, each.ptx_line)
            places.setdefault(key, []).append(each)
        texts = {PTX: self._ptx.splitlines()}
        for file, _ in places:
            if file not in texts:
                texts[file] = lines_of_file(file) or []
        return [
            LineCounts(file, line, _line_of(texts[file], line), code)
            for (file, line), code in sorted(places.items())
        ]

    def at(self, line: int, file: str = "") -> LineCounts:
        """Return the counters of a line. Host only.

        Parameters
        ----------
        line
            Number of the line.
        file
            End of the path, if several files have a line of that number.

        Raises
        ------
        KeyError
            If no line or several lines match.
        """
        matches = [each for each in self.lines if each.line == line and each.file.endswith(file)]
        if len(matches) == 1:
            return matches[0]
        known = ", ".join(f"{each.file}:{each.line}" for each in matches or self.lines)
        problem = "several lines match" if matches else "no such line has code"
        raise KeyError(f"{self.name}: {problem}: {known}")

    @property
    def advice(self) -> list[str]:
        """The proven causes of slow accesses, each with its line and a remedy."""
        return [
            text
            for line in self.lines
            for text in advice_on(line.file, line.line, line._instructions)
        ]

    def __repr__(self) -> str:
        return f"<{self.name}, {self.launches} launches: {self.as_dict()}>"


def _ratio(value: int, count: int) -> float:
    return value / count if count else 0.0


def _line_of(lines: list[str], line: int) -> str:
    return lines[line - 1] if line <= len(lines) else ""


def lines_of_file(file: str) -> list[str] | None:
    """Return the lines of a source, or None if there is no such file. Host only."""
    path = Path(file)
    return path.read_text(errors="replace").splitlines() if path.is_file() else None
