# SPDX-License-Identifier: Apache-2.0
"""Fault injection into driver calls, and assertions of expected faults."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from cuda.core.emulation import library
from cuda.core.emulation.control import last_fault, repair, settle, stats

from halfwarp.progress import progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import SupportsInt

    from cuda.core.emulation.records import Fault


class Rule:
    """An active fault rule.

    Attributes
    ----------
    text
        The rule in the syntax of the option ``fail``.
    hits
        Number of calls that the rule failed; final after the ``with`` block.
    matches
        Number of calls that matched the rule's function.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.hits = 0
        self.matches = 0
        self._id = library.arm(text)

    def disarm(self) -> None:
        """Remove the rule. Host only. A second call has no effect."""
        if self._id:
            self.hits, self.matches = library.disarm(self._id)
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
        Name of the driver function without version suffix; ``*`` is a wildcard. ``"any"`` selects
        every call that can fail. ``"launch@KERNEL"`` selects executions of a kernel, which then
        fail asynchronously.
    nth
        Number of the first matching call that fails, counted from 1 in the block.
    error
        The ``CUresult`` that the call returns: its name, number or member.
    times
        Number of calls that fail, starting with the nth.
    sticky
        Whether the context stays broken after a ``launch@`` fault.
    optional
        Whether the rule may remain unused.

    Yields
    ------
    Rule
        The active rule; its ``hits`` count the failures.

    Raises
    ------
    AssertionError
        At the end of the block, if the rule never fired and is not optional.
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
    """The result of `expect_fault`; the end of the block sets ``fault``."""

    fault: Fault | None = None


@contextmanager
def expect_fault(kind: str) -> Iterator[_Expectation]:
    """Assert that the block causes a fault, and repair the context.

    Blocks the host: the end of the block waits for all work. A CUDAError that reports the fault is
    suppressed. The context is usable afterwards.

    Parameters
    ----------
    kind
        Expected `Fault.kind`: ``"out-of-bounds"``, ``"use-after-free"``, ``"device-assert"``, ...

    Raises
    ------
    AssertionError
        If no fault occurred, or a fault of another kind.
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
    """Run a function repeatedly, failing its first, second, ... and finally last driver call.

    Blocks the host. After each run the sweep checks for leaks, double frees and uses after free,
    and that an ordinary operation succeeds.

    Parameters
    ----------
    function
        The function to run; it receives no arguments.
    functions
        Calls to fail, as in `inject`.
    error
        The code that failed calls return.
    expected
        The exception class, or a tuple of classes, that a failing run may raise; by default
        CUDAError and RuntimeError.
    limit
        Maximum number of runs.

    Returns
    -------
    int
        Number of runs with a fault.

    Raises
    ------
    AssertionError
        If a check fails; the message names the failed call and the problem.
    """
    if expected is None:
        from cuda.core import CUDAError

        expected = (CUDAError, RuntimeError)
    with progress("calls that failed") as counted:
        for nth in range(1, limit + 1):
            before = _Footprint()
            with inject(functions, nth=nth, error=error, optional=True) as rule:
                raised = _run_once(function, expected, rule)
            _Footprint().require_clean_since(before, f"{rule.text} ({raised or 'no exception'})")
            library.probe(rule.text)
            if not rule.hits:
                return nth - 1
            counted.step()
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
        settle()  # memory freed in a stream is live until the stream reaches the free
        library.start()
        counts = stats()
        self.live = counts["live"]
        self.reports = counts["reports"]

    def require_clean_since(self, before: _Footprint, cause: str) -> None:
        for kind, entry in self.live.items():
            previous = before.live.get(kind, {"count": 0})
            if entry["count"] > previous["count"]:
                raise AssertionError(
                    f"sweep: {cause} leaked {entry['count'] - previous['count']} x {kind}"
                )
        for kind in ("double-free", "use-after-free"):
            if self.reports.get(kind, 0) > before.reports.get(kind, 0):
                raise AssertionError(f"sweep: {cause} led to a report of kind {kind}")
