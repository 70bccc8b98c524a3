# SPDX-License-Identifier: Apache-2.0
"""Making driver calls fail, and expecting that kernels do."""

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
        self._id = library.arm(text)

    def disarm(self) -> None:
        """Remove the rule. Host only. A second call does nothing."""
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
        for kind in ("double-free", "use-after-free"):
            if self.reports.get(kind, 0) > before.reports.get(kind, 0):
                raise AssertionError(f"sweep: {what} led to a report of kind {kind}")
