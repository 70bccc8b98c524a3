# SPDX-License-Identifier: Apache-2.0
"""Run CUDA code without a GPU: choose the emulated driver, and ask it what it saw.

The emulated driver runs kernels on the CPU, from their PTX. It is for testing and learning: it
reports mistakes that a GPU hides, and its timings say nothing about a GPU.

    from cuda.core import emulation
    emulation.enable(seed=3)            # before the first driver call

``python -m cuda.core.emulation`` prints the device table; ``... run SCRIPT`` runs a script on the
emulator; ``... path`` prints a folder that puts other CUDA programs on it.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cuda.core import _emulator_library as _library

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import SupportsInt

    _Option = bool | int | str | Iterable[str]
    _Extent = tuple[int, int, int]

__all__ = [
    "Allocation",
    "Fault",
    "Leak",
    "Rule",
    "enable",
    "error_text",
    "expect_fault",
    "inject",
    "is_active",
    "last_fault",
    "leaks",
    "options",
    "repair",
    "reset",
    "settle",
    "stats",
    "sweep",
]


@dataclass(frozen=True)
class Allocation:
    """The allocation nearest to a faulty address. Sizes and addresses in bytes."""

    base: int
    size: int
    is_live: bool
    stream: int
    freed_stream: int
    name: str
    created_at: str
    freed_at: str


@dataclass(frozen=True)
class Fault:
    """A mistake of a kernel, or of a copy in a stream. ``str()`` gives the whole report."""

    kind: str
    code: int
    is_sticky: bool
    access: str
    bytes: int
    address: int
    kernel: str
    device: int
    stream: int
    grid: _Extent
    block: _Extent
    block_index: _Extent
    thread: _Extent
    other_threads: int
    ptx_line: int
    source_file: str
    source_line: int
    instruction: str
    nearest: Allocation | None
    detail: str
    hint: str
    seed: int
    first_line: str
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Leak:
    """Something that was made and not given back. ``id``: number, or address of memory."""

    kind: str
    id: int
    bytes: int
    device: int
    pool: int
    stream: int
    name: str
    created_at: str


def enable(**options: _Option) -> None:
    """Choose the emulated driver for this process.

    Host only.

    Parameters
    ----------
    **options
        ``devices``, ``cc``, ``memory``, ``mode``, ``seed``, ``threads``, ``check``, ``fail``,
        ``trace``, ``step_limit``, ``report``. What is not given comes from the variables
        ``HALFWARP_EMULATOR_...``, or has its default. Sets may be given as sets.

    Raises
    ------
    ValueError
        For an unknown option, or a value that it does not take.
    RuntimeError
        If a real driver has been used in this process, if the emulator runs already with other
        options, or if its library is not installed.
    """
    chosen = {name: _library.check_option(name, value) for name, value in options.items()}
    if _library.is_running():
        _require_equal(chosen)
        return
    _library.choose(chosen)


def _require_equal(chosen: dict[str, str]) -> None:
    used = _library.record("options")
    for name, value in chosen.items():
        if used[name] != value:
            raise RuntimeError(
                f"the emulator runs already with {name}={used[name]!r}, so it cannot have "
                f"{value!r}; call enable() before the first driver call"
            )


def is_active() -> bool:
    """Whether driver calls go, or will go, to the emulator.

    Host only.
    """
    return _library.is_chosen()


def options() -> dict[str, str]:
    """The options of the emulation, as texts by name.

    Host only.

    Raises
    ------
    RuntimeError
        If the emulator is not active.
    """
    return _library.record("options")


def last_fault() -> Fault | None:
    """The last fault of a kernel or copy, or None. A `Fault`.

    Host only.
    """
    found = _library.record("last_fault") if _library.is_running() else None
    if found is None:
        return None
    for name in ("grid", "block", "block_index", "thread"):
        found[name] = tuple(found[name])
    if found["nearest"]:
        found["nearest"] = Allocation(**found["nearest"])
    return Fault(**found)


def error_text(code: SupportsInt) -> str:
    """What is behind a driver code that this thread has just got; empty when no more is known.

    Host only.

    Parameters
    ----------
    code
        The ``CUresult``, as an int.
    """
    return _library.error_text(int(code)) if _library.is_loaded() else ""


def leaks() -> list[Leak]:
    """What the program made and has not given back: a list of `Leak`, by kind, then age.

    Host only.
    """
    return [Leak(**each) for each in (_library.record("leaks") or [])]


def stats() -> dict[str, Any]:
    """Counts: live objects and bytes by kind, calls by function, launches, instructions, reports.

    Host only.
    """
    return _library.record("stats")


def settle() -> None:
    """Wait for all work of all contexts; printed text comes out.

    Blocks the host.
    """
    _library.load().halfwarp_emulator_settle()


def repair() -> bool:
    """Forget the last fault, and make broken contexts usable again; whether there was one.

    Blocks the host. No device can do that; it is for tests that go on after a fault. What was
    queued behind the fault is dropped.
    """
    return bool(_library.load().halfwarp_emulator_repair())


def reset() -> None:
    """Begin afresh: contexts empty and whole, faults, fault rules and counts forgotten.

    Blocks the host. What was made in a context is gone; its handles are stale.
    """
    _library.load().halfwarp_emulator_reset()


class Rule:
    """An armed fault rule.

    Attributes
    ----------
    text
        The rule as the option ``fail`` has it.
    hits
        How many calls it failed; final when the ``with`` block has ended.
    matches
        How many calls it looked at.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.hits = 0
        self.matches = 0
        self._id = _library.arm(text)

    def disarm(self) -> None:
        """Remove the rule. Host only. A second call does nothing."""
        if self._id:
            self.hits, self.matches = _library.disarm(self._id)
            self._id = 0


@contextmanager
def inject(
    function: str,
    *,
    nth: int = 1,
    error: str | SupportsInt = "CUDA_ERROR_OUT_OF_MEMORY",
    times: int = 1,
    sticky: bool = False,
    optional: bool = False,
) -> Iterator[Rule]:
    """Make a driver call fail.

    Host only.

    Parameters
    ----------
    function
        Name of the driver function without version suffix, ``*`` allowed; ``"any"`` for every call
        that can fail; ``"launch@KERNEL"`` for an execution of a kernel, which then fails
        asynchronously.
    nth
        Which matching call fails, counted from 1 at the beginning of the block.
    error
        The ``CUresult`` that it answers: its name, number or member.
    times
        How many calls fail, from the nth on.
    sticky
        For ``launch@``: whether the context stays broken.
    optional
        Whether it is no mistake that the rule never fires.

    Yields
    ------
    Rule
        Its ``hits`` count the failures.

    Raises
    ------
    AssertionError
        At the end, if the rule never fired and was not optional.
    """
    code = error if isinstance(error, str) else int(error)
    rule = Rule(f"{function}:{nth}x{times}={code}{'!' if sticky else ''}")
    try:
        yield rule
    finally:
        rule.disarm()
    if not rule.hits and not optional:
        raise AssertionError(
            f"the fault rule {rule.text} never fired: {rule.matches} calls matched, the "
            f"{nth}. was to fail"
        )


class _Expectation:
    """What `expect_fault` yields: its ``fault`` is set at the end of the block."""

    fault: Fault | None = None


@contextmanager
def expect_fault(kind: str) -> Iterator[_Expectation]:
    """Assert that the block causes a fault, and clear what it leaves behind.

    Blocks the host: waits for all work at the end. The CUDAError that tells of the fault may leave
    the block; it goes no further. The context is usable again.

    Parameters
    ----------
    kind
        As in `Fault.kind`: ``"out-of-bounds"``, ``"use-after-free"``, ``"device-assert"``, ...

    Raises
    ------
    AssertionError
        If there was no fault, or one of another kind.
    """
    from cuda.core import CUDAError

    expectation = _Expectation()
    repair()
    try:
        yield expectation
    except CUDAError:
        if last_fault() is None:
            raise
    settle()
    expectation.fault = last_fault()
    repair()
    if expectation.fault is None:
        raise AssertionError(f"expected a fault of kind {kind!r}, there was none")
    if expectation.fault.kind != kind:
        raise AssertionError(f"expected a fault of kind {kind!r}, got:\n{expectation.fault}")


def sweep(
    function: Callable[[], object],
    functions: str = "any",
    *,
    error: str | SupportsInt = "CUDA_ERROR_OUT_OF_MEMORY",
    expected: type[BaseException] | tuple[type[BaseException], ...] | None = None,
    limit: int = 10_000,
) -> int:
    """Run a function again and again, failing its first, second, ... driver call, to the last.

    Blocks the host. After each run nothing may have leaked, no memory may have been freed twice or
    used after it was freed, and an ordinary operation must work.

    Parameters
    ----------
    function
        Called without arguments.
    functions
        Which calls to fail, as in `inject`.
    error
        The code that they answer.
    expected
        The exception class, or a tuple of them, that a failing run may raise; CUDAError and
        RuntimeError when omitted.
    limit
        The number of runs after which a function that never ends is given up.

    Returns
    -------
    int
        How many runs met a fault.

    Raises
    ------
    AssertionError
        Naming the call that was failed, and what was wrong after it.
    """
    if expected is None:
        from cuda.core import CUDAError

        expected = (CUDAError, RuntimeError)
    for nth in range(1, limit + 1):
        before = _Footprint()
        with inject(functions, nth=nth, error=error, optional=True) as rule:
            raised = _run_once(function, expected, rule)
        _Footprint().require_clean_since(before, f"{rule.text} ({raised or 'no exception'})")
        _library.probe(rule.text)
        if not rule.hits:
            return nth - 1
    raise AssertionError(f"sweep: still failing calls after {limit} runs")


def _run_once(
    function: Callable[[], object],
    expected: type[BaseException] | tuple[type[BaseException], ...],
    rule: Rule,
) -> str | None:
    try:
        function()
    except expected as error:
        return f"{type(error).__name__}: {error}"
    except Exception as error:
        raise AssertionError(
            f"sweep: under {rule.text} the function raised {type(error).__name__}, "
            "which is not expected"
        ) from error
    return None


class _Footprint:
    """Live objects and report counts at one moment."""

    def __init__(self) -> None:
        import gc

        gc.collect()
        settle()  # memory that a stream gives back is live until the stream has come to that
        now = stats()
        self.live = now["live"]
        self.reports = now["reports"]

    def require_clean_since(self, before: _Footprint, what: str) -> None:
        for kind, now in self.live.items():
            then = before.live.get(kind, {"count": 0})
            if now["count"] > then["count"]:
                raise AssertionError(
                    f"sweep: {what} leaked {now['count'] - then['count']} x {kind}"
                )
        for kind in ("double free", "use-after-free"):
            if self.reports.get(kind, 0) > before.reports.get(kind, 0):
                raise AssertionError(f"sweep: {what} led to a report of kind {kind}")


def __dir__() -> list[str]:
    return __all__


if __name__ == "__main__":
    from cuda.core._commands.emulation import main

    sys.exit(main(sys.argv[1:]))
