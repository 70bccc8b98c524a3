# SPDX-License-Identifier: Apache-2.0
"""Counts of each PTX instruction that kernels executed on the emulator, as plain data."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from cuda.core.emulation import control, library

DETAILS = {"lines": 1, "accesses": 2}
EXECUTION_FIELDS = 7


@dataclass(frozen=True)
class Location:
    """A position of the source: of an inlined function, with the call that it replaced."""

    file: str
    line: int
    column: int
    function: str = ""
    inlined_at: tuple[str, int, int] | None = None


@dataclass
class Branch:
    """Outcomes of a branch: executions in which a lane branched, fell through, or both occurred."""

    targets: tuple[int, ...]
    is_conditional: bool
    taken: int = 0
    not_taken: int = 0
    divergent: int = 0


@dataclass
class Instruction:
    """Counts of one PTX instruction. An execution is by a warp, or by a part of it."""

    ptx_line: int
    text: str
    location: Location | None
    executions: int = 0
    lanes: int = 0  # whether or not their guard is true
    active_executions: int = 0
    active_lanes: int = 0
    branch: Branch | None = None
    counters: dict[str, int] = field(default_factory=dict)
    lane_step: int | str | None = None  # bytes between neighboring lanes, or "different"
    is_result_unused: bool = False  # of an atomic operation


@dataclass
class Function:
    """A function with all its instructions, in the order of the text."""

    name: str
    is_kernel: bool
    instructions: list[Instruction]


@dataclass
class Kernel:
    """A kernel with the functions that it can call. Equal kernels of several modules are one."""

    name: str
    short_name: str
    launches: int
    functions: list[Function]
    ptx: str
    grid: tuple[int, ...] = ()  # of the first launch
    block: tuple[int, ...] = ()


class Session:
    """Counts what kernels execute while it is open. Host only.

    Parameters
    ----------
    detail
        ``"lines"`` for executions and branches, or ``"accesses"`` for memory accesses also.
    per_launch
        Whether each launch is a kernel of its own, instead of the sum of the launches.

    Raises
    ------
    RuntimeError
        If the emulator is not active.
    """

    def __init__(self, detail: str = "lines", *, per_launch: bool = False) -> None:
        if not library.is_chosen():
            raise RuntimeError(
                "kernels are counted by the emulator, which is not active; set "
                "HALFWARP_BACKEND=emulator, or call cuda.core.emulation.enable(), before the "
                "first driver call"
            )
        if library.is_running():
            control.settle()  # launches of an earlier time are not counted
        self._session = library.load().halfwarp_emulator_profile_open(
            DETAILS[detail], not per_launch
        )

    def read(self) -> list[Kernel]:
        """Return the kernels that were launched, and others of their modules. Blocks the host."""
        if self._session is None:
            raise RuntimeError("the session is closed; read it before close()")
        if library.is_running():
            control.settle()
        return kernels_of(library.profile(self._session))

    def close(self) -> None:
        """End the session. Host only."""
        if self._session is not None:
            library.load().halfwarp_emulator_profile_close(self._session)
            self._session = None

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def kernels_of(record: dict) -> list[Kernel]:
    """Return the kernels of a record of the emulator."""
    modules = [_Module(each) for each in record["modules"]]
    kernels = []
    for each in record["kernels"]:
        module = modules[each["module"]]
        functions = [
            module.function(one["function"], one["counts"], record["counters"])
            for one in each["functions"]
        ]
        sizes = tuple(each["grid"]), tuple(each["block"])
        name = functions[0].name
        module.launched.add(name)
        about = name, module.short_name(each["functions"][0]["function"]), each["launches"]
        kernels.append(Kernel(*about, functions, module.ptx, *sizes))
    for module in modules:
        kernels += module.other_kernels()
    return kernels


class _Module:
    """The text and the line table of a module."""

    def __init__(self, record):
        self.ptx = record["ptx"]
        self.launched = set()
        self._files = dict(record["files"])
        self._functions = record["functions"]
        self._names = None

    def function(self, index, counts=None, names=()):
        """Return a function with counts of its instructions, or with none."""
        record = self._functions[index]
        locations = [self._location(*each) for each in record["locations"]]
        instructions = [self._instruction(locations, *each) for each in record["instructions"]]
        _mark_unused_results(instructions)
        for instruction, values in zip(instructions, counts or (), strict=False):
            _set_counts(instruction, values, names)
        return Function(record["name"], record["is_kernel"], instructions)

    def short_name(self, index):
        """Return the name of a kernel in the source, without parameters and namespaces."""
        declaration = re.split(r"[(<]", self._functions[index]["demangled"], maxsplit=1)[0]
        return re.split(r"\s|::", declaration)[-1]

    def other_kernels(self):
        """Return the kernels that were not launched."""
        for index, record in enumerate(self._functions):
            is_other = record["is_kernel"] and record["name"] not in self.launched
            if is_other and record["instructions"]:
                name = record["name"]
                yield Kernel(name, self.short_name(index), 0, [self.function(index)], self.ptx)

    def _instruction(self, locations, line, location, text, is_guarded, targets):
        place = None if location is None else locations[location]
        branch = Branch(tuple(targets), is_guarded or len(targets) > 1) if targets else None
        return Instruction(line, " ".join(text.split()), place, branch=branch)

    def _location(self, file, line, column, function, *call):
        inlined_at = (self._files.get(call[0], ""), *call[1:]) if function else None
        name = self._inlined_name(function) if function else ""
        return Location(self._files.get(file, ""), line, column, name, inlined_at)

    def _inlined_name(self, label):
        """Return the name of an inlined function, which the debug strings of the PTX contain."""
        if self._names is None:
            self._names = dict(_debug_strings(self.ptx))
        return self._names.get(label, label)


def _debug_strings(ptx):
    section = re.search(r"\.section\s+\.debug_str\s*\{(.*?)\}", ptx, re.DOTALL)
    text = re.sub(r"//.*", "", section[1]) if section else ""
    for label, data in re.findall(r"(\S+):\s*((?:\.b8\s+[\d,\s]+)+)", text):
        values = bytes(int(number) & 255 for number in re.findall(r"(?<!\.b)\b\d+", data))
        yield label, values.split(b"\0")[0].decode(errors="replace")


def _mark_unused_results(instructions):
    atomics = [each for each in instructions if re.match(r"(@\S+ )?atom\.", each.text)]
    if not atomics:
        return
    uses = Counter(name for each in instructions for name in re.findall(r"%\w+", each.text))
    for each in atomics:
        result = re.search(r"atom\S+\s+([%\w]+)", each.text)
        each.is_result_unused = result[1] == "_" or uses[result[1]] == 1


def _set_counts(instruction, values, names):
    counts, accesses = values[:EXECUTION_FIELDS], values[EXECUTION_FIELDS:]
    instruction.executions, instruction.lanes = counts[:2]
    is_guarded = instruction.text.startswith("@")
    instruction.active_executions, instruction.active_lanes = (
        counts[2:4] if is_guarded else counts[:2]
    )
    if instruction.branch:
        branch = instruction.branch
        branch.taken, branch.not_taken, branch.divergent = counts[4:]
    if accesses:
        instruction.counters = {n: v for n, v in zip(names, accesses, strict=False) if v}
        instruction.lane_step = accesses[-1]
