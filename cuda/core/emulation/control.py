# SPDX-License-Identifier: Apache-2.0
"""Choosing the emulated driver, asking what it saw, and beginning afresh."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from cuda.core.emulation import library
from cuda.core.emulation.records import Allocation, Fault, Leak

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import SupportsInt

    _Option = bool | int | str | Iterable[str]


def enable(**options: _Option) -> None:
    """Choose the emulated driver for this process.

    Host only.

    Parameters
    ----------
    **options
        ``devices``, ``cc``, ``memory``, ``mode``, ``seed``, ``threads``, ``check``, ``fail``,
        ``trace``, ``step_limit``, ``report``, ``destroyed``, ``fork_in_init``,
        ``multiprocessors``. What is not given comes from the variables
        ``HALFWARP_EMULATOR_...``, or has its default. Sets may be given as sets.

    Raises
    ------
    ValueError
        For an unknown option, or a value that it does not take.
    RuntimeError
        If a real driver has been used in this process, if the emulator runs already with other
        options, or if its library is not installed.
    """
    chosen = {name: library.check_option(name, value) for name, value in options.items()}
    if library.has_announced():
        _require_equal(chosen)
    if not library.is_running():
        library.choose(chosen)


def _require_equal(chosen: dict[str, str]) -> None:
    used = library.record("options")
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
    return library.is_chosen()


def options() -> dict[str, str]:
    """The options of the emulation, as texts by name.

    Host only.

    Raises
    ------
    RuntimeError
        If the emulator is not active.
    """
    return library.record("options")


def last_fault() -> Fault | None:
    """The last fault of a kernel, a copy or a call, or None. A `Fault`.

    Host only.
    """
    found = library.record("last_fault") if library.is_running() else None
    return None if found is None else _fault(found)


def faults() -> list[Fault]:
    """The faults since the last `repair` or `reset`, the first of them first: at most 100.

    Host only.
    """
    found = library.record("faults") if library.is_running() else None
    return [_fault(each) for each in found or []]


def _fault(found: dict[str, Any]) -> Fault:
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
    return library.error_text(int(code)) if library.is_loaded() else ""


def leaks() -> list[Leak]:
    """What the program made and has not given back: a list of `Leak`, by kind, then age.

    Blocks the host when libraries are to be unloaded, whose last work may be under way.
    """
    _unload_unused()
    return [Leak(**each) for each in (library.record("leaks") or [])]


def stats() -> dict[str, Any]:
    """Counts: live objects and bytes by kind, calls by function, launches, instructions, reports.

    Host only.
    """
    return library.record("stats")


def _unload_unused() -> None:
    """`cuda.core` keeps libraries that nobody needs until the host waits for all work."""
    core = sys.modules.get("cuda.core._core")
    if core is not None:
        core._unload_unused()


def settle() -> None:
    """Wait for all work of all contexts; printed text comes out.

    Blocks the host.
    """
    library.load().halfwarp_emulator_settle()
    _unload_unused()


def repair() -> bool:
    """Forget the last fault, and make broken contexts usable again; whether there was one.

    Blocks the host. No device can do that; it is for tests that go on after a fault. What was
    queued behind the fault is dropped.
    """
    return bool(library.load().halfwarp_emulator_repair())


def reset() -> None:
    """Begin afresh: contexts empty and whole, faults, fault rules, counts and sensors forgotten.

    Blocks the host. What was made in a context is gone; its handles are stale.
    """
    _unload_unused()  # by handles that are stale afterwards
    library.load().halfwarp_emulator_reset()
    library.reset_management()
