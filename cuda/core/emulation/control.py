# SPDX-License-Identifier: Apache-2.0
"""Selection of the emulated driver, queries of its reports, and its reset."""

from __future__ import annotations

import operator
import sys
from typing import TYPE_CHECKING, Any

from cuda.core.arguments.shown import shown
from cuda.core.emulation import library
from cuda.core.emulation.records import Allocation, EarlierAccess, Fault, Leak, Origin

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import SupportsInt

    from cuda.core import Buffer

    _Option = bool | int | str | Iterable[str]


def enable(**options: _Option) -> None:
    """Select the emulated driver for this process.

    Host only.

    Parameters
    ----------
    **options
        ``devices``, ``cc``, ``memory``, ``mode``, ``seed``, ``schedule``, ``threads``, ``check``,
        ``fail``, ``trace``, ``step_limit``, ``nccl_limit``, ``report``, ``suppress``, ``strict``,
        ``destroyed``, ``fidelity``, ``profile``, ``fork_in_init``, ``multiprocessors``. The
        variables ``HALFWARP_EMULATOR_...`` supply omitted options; otherwise defaults apply. An
        option with several values accepts a set.

    Raises
    ------
    ValueError
        If an option is unknown, or does not accept its value.
    RuntimeError
        If this process already used a real driver, if the emulator is already running with other
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
                f"the emulator already runs with {name}={used[name]!r} and cannot change it to "
                f"{shown(value)}; call enable() before the first driver call"
            )


def is_active() -> bool:
    """Return whether the emulator serves driver calls, now or from the first call.

    Host only.
    """
    return library.is_chosen()


def options() -> dict[str, str]:
    """Return the emulator's options as strings by name.

    Host only.

    Raises
    ------
    RuntimeError
        If the emulator is not active.
    """
    return library.record("options")


def last_fault() -> Fault | None:
    """Return the last `Fault` of a kernel, a copy or a call, or None.

    Host only.
    """
    record = library.record("last_fault") if library.is_running() else None
    return None if record is None else _fault(record)


def faults() -> list[Fault]:
    """Return the faults since the last `repair` or `reset`, oldest first, at most 100.

    Host only.
    """
    records = library.record("faults") if library.is_running() else None
    return [_fault(each) for each in records or []]


def origin(buffer: Buffer | int, offset: int = 0, size: int = 4) -> list[Origin]:
    """Return the last writer of each word of a range of device memory.

    Blocks the host.

    Words that no kernel, copy or memset wrote since their allocation are left out. At most 4096
    words are examined.

    Parameters
    ----------
    buffer
        The buffer, or its address.
    offset, size
        The range, in bytes.

    Raises
    ------
    TypeError
        If the buffer is neither a buffer nor an address, or a number is no integer.
    ValueError
        If the buffer is closed, or the range is not in live memory.
    RuntimeError
        If the option ``check`` contains neither ``race`` nor ``init``.
    """
    if not {"race", "init", "all"} & set(options()["check"].split(",")):
        raise RuntimeError(
            "the writers of memory are unknown: select the check, for instance with "
            "HALFWARP_EMULATOR_CHECK=race"
        )
    first, size = _range(buffer, offset, size)
    settle()
    records = library.origins(first, size) if library.is_running() else []
    if isinstance(records, dict):
        raise ValueError(
            f"emulation.origin() of {size} bytes at {first:#x}: {records['problem']}; pass a range "
            "inside one live allocation"
        )
    for record in records:
        for name in ("block_index", "thread"):
            record[name] = tuple(record[name])
    return [Origin(**record) for record in records]


def _range(buffer: Any, offset: Any, size: Any) -> tuple[int, int]:
    """Return the first address of a range, and its size."""
    from cuda.core import Buffer

    call = "emulation.origin()"
    numbers = {"offset": offset, "size": size}
    for name, value in numbers.items():
        try:
            numbers[name] = operator.index(value)
        except TypeError:
            raise TypeError(
                f"{call}: {name} must be an int, a number of bytes, got {shown(value)}"
            ) from None
        if not 0 <= numbers[name] < 1 << 63:
            raise ValueError(
                f"{call}: {name} must be from 0 to 2**63 - 1, got {value}; offsets count bytes "
                "from the start of the buffer"
            )
    offset, size = numbers["offset"], numbers["size"]
    if isinstance(buffer, Buffer):
        if not buffer.handle:
            raise ValueError(f"{call}: the buffer is closed; ask for its writers before close()")
        if offset + size > buffer.size:
            raise ValueError(
                f"{call}: bytes {offset} to {offset + size} exceed the {buffer.size} bytes of the "
                "buffer; reduce offset or size"
            )
        return int(buffer.handle) + offset, size
    is_address = hasattr(type(buffer), "__index__") and not isinstance(buffer, bool)
    if not is_address:
        raise TypeError(
            f"{call}: buffer must be a Buffer or the address of device memory as an int, got "
            f"{type(buffer).__name__}: {shown(buffer)}"
        )
    first = operator.index(buffer) + offset
    if not 0 <= first < 1 << 63:
        raise ValueError(f"{call}: {buffer} is no address; pass a Buffer, or buffer.handle")
    return first, size


def _fault(record: dict[str, Any]) -> Fault:
    for name in ("grid", "block", "block_index", "thread"):
        record[name] = tuple(record[name])
    if record["earlier"]:
        earlier = record["earlier"]
        for name in ("block_index", "thread"):
            earlier[name] = tuple(earlier[name])
        record["earlier"] = EarlierAccess(**earlier)
    if record["nearest"]:
        record["nearest"] = Allocation(**record["nearest"])
    return Fault(**record)


def error_text(code: SupportsInt) -> str:
    """Return the explanation of this thread's last driver error; empty without details.

    Host only.

    Parameters
    ----------
    code
        The ``CUresult``, as an int.
    """
    return library.error_text(int(code)) if library.is_loaded() else ""


def leaks() -> list[Leak]:
    """Return the objects that the program has not released: `Leak` objects by kind, then age.

    Blocks the host until pending work completes if unused libraries must be unloaded.
    """
    _unload_unused()
    return [Leak(**each) for each in (library.record("leaks") or [])]


def stats() -> dict[str, Any]:
    """Return counts of the emulator.

    They are live objects and bytes by kind, calls by function, launches, instructions and reports.

    Host only.
    """
    return library.record("stats")


def _unload_unused() -> None:
    """Unload unused libraries, which `cuda.core` retains until the host waits for all work.

    The kernels that copy views are its own too, so they are no leaks of the program.
    """
    if kernels := sys.modules.get("cuda.core.views.copy_kernel"):
        kernels.forget()
    core = sys.modules.get("cuda.core._core")
    if core is not None:
        core._unload_unused()


def settle() -> None:
    """Wait for all work of all contexts, and flush the output of ``printf``.

    Blocks the host.
    """
    library.load().halfwarp_emulator_settle()
    _unload_unused()


def repair() -> bool:
    """Discard the last fault and make broken contexts usable; return whether a fault existed.

    Blocks the host. Tests use it to continue after a fault; a GPU has no such operation. Work
    queued after the fault is discarded.
    """
    return bool(library.load().halfwarp_emulator_repair())


def reset() -> None:
    """Reset the emulator: contexts, faults, fault rules, counts and sensors.

    Blocks the host. The objects of all contexts are destroyed; their handles are invalid.
    """
    _unload_unused()  # its handles are invalid after the reset
    library.load().halfwarp_emulator_reset()
    library.reset_management()
