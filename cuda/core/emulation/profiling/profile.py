# SPDX-License-Identifier: Apache-2.0
"""Counters of kernels on the emulator: totals of each kernel, and of each line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cuda.core.emulation.execution_record import Session, kernels_of
from cuda.core.emulation.profiling import page, text
from cuda.core.emulation.profiling.counts import KernelCounts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from cuda.core.emulation.execution_record import Kernel


class Profile:
    """Counters of the kernels in a ``with`` block, from `profile`.

    ``profile["name"]`` returns the counters of a kernel, ``print(profile)`` writes a table, and
    notebooks show a richer one. Iteration yields the kernels in the order of their first launch.

    Parameters
    ----------
    per_launch
        Whether each launch is counted by itself.
    """

    def __init__(self, *, per_launch: bool = False) -> None:
        self._per_launch = per_launch
        self._session: Session | None = None
        self._records: list[Kernel] | None = None

    def __enter__(self) -> Profile:
        if self._session or self._records is not None:
            raise RuntimeError("this profile was used already; create another with profile()")
        self._session = Session("accesses", per_launch=self._per_launch)
        return self

    def __exit__(self, *error: object) -> None:
        assert self._session is not None
        try:
            self._records = self._session.read()
        finally:
            self._session.close()

    @classmethod
    def from_records(cls, records: list[dict[str, Any]]) -> Profile:
        """Return the profile of other processes, from the records that they wrote. Host only."""
        result = cls()
        result._records = [kernel for record in records for kernel in kernels_of(record)]
        return result

    @property
    def kernels(self) -> list[KernelCounts]:
        """The launched kernels. With ``per_launch``, one for each launch. Blocks the host."""
        if self._records is None and self._session is None:
            raise RuntimeError("nothing was counted: use the profile in a with statement")
        records = self._session.read() if self._records is None else self._records
        return [KernelCounts(each) for each in records if each.launches]

    def __iter__(self) -> Iterator[KernelCounts]:
        return iter(self.kernels)

    def __len__(self) -> int:
        return len(self.kernels)

    def __getitem__(self, name: str) -> KernelCounts:
        matches = [each for each in self.kernels if name in (each.name, each.full_name)]
        if len(matches) == 1:
            return matches[0]
        if matches:
            known = ", ".join(each.full_name for each in matches)
            raise KeyError(f"several kernels or launches have the name {name!r}: {known}")
        known = ", ".join(each.name for each in self.kernels) or "none"
        raise KeyError(f"no kernel {name!r} was launched; launched kernels: {known}")

    @property
    def advice(self) -> list[str]:
        """The advice on all kernels."""
        return [each for kernel in self.kernels for each in kernel.advice]

    def as_dict(self) -> dict[str, Any]:
        """Return the counters of the kernels and their lines, for JSON. Blocks the host."""
        return text.json_of(self.kernels, self.advice)

    def __str__(self) -> str:
        return text.table_of(self.kernels, self.advice)

    def _repr_html_(self) -> str:
        return page.table_of(self.kernels, self.advice)


def profile(*, per_launch: bool = False) -> Profile:
    """Count what kernels execute and access in a ``with`` block.

    Counted launches are slower and have equal results. The profile does not contain launches that
    were queued before.

    Parameters
    ----------
    per_launch
        Whether each launch is counted by itself, instead of the sum of the launches of a kernel.

    Raises
    ------
    RuntimeError
        On entry, if the emulator is not active.

    Examples
    --------
    >>> with emulation.profile() as p:
    ...     launch(stream, config, kernel, buffer)
    >>> assert p["transpose"].bank_conflicts == 0
    """
    return Profile(per_launch=per_launch)
