# SPDX-License-Identifier: Apache-2.0
"""Options of green contexts and their resources."""

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cuda.core.arguments.shown import shown
from cuda.core.typing import WorkqueueSharingScopeType

if TYPE_CHECKING:
    from cuda.core import SMResource, WorkqueueResource

_BACKFILL = 1  # CU_DEV_SM_RESOURCE_GROUP_BACKFILL


@dataclass(slots=True, weakref_slot=True)
class ContextOptions:
    """Options of `Device.create_context`.

    Host only.

    Parameters
    ----------
    resources : sequence of SMResource and WorkqueueResource
        Resources of the context. Several `SMResource` objects must be from one split.

    See Also
    --------
    cuDevResourceGenerateDesc : the driver function.
    """

    resources: "Sequence[SMResource | WorkqueueResource]"


@dataclass(slots=True, weakref_slot=True)
class SMResourceOptions:
    """Options of `SMResource.split`: one group, or one group for each of several counts.

    Host only. If `count` is a sequence, the other fields may be sequences of the same length.

    Parameters
    ----------
    count : int or sequence of int, optional
        Multiprocessors in each group; None uses all remaining multiprocessors.
    coscheduled_sm_count : int or sequence of int, optional
        Multiprocessors that are scheduled together, which limits the size of a cluster.
    preferred_coscheduled_sm_count : int or sequence of int, optional
        Preferred value of `coscheduled_sm_count`.
    backfill : bool or sequence of bool
        Whether `count` has precedence over `coscheduled_sm_count`.

    See Also
    --------
    cuDevSmResourceSplit : the driver function.
    """

    count: int | Sequence[int | None] | None = None
    coscheduled_sm_count: int | Sequence[int | None] | None = None
    preferred_coscheduled_sm_count: int | Sequence[int | None] | None = None
    backfill: bool | Sequence[bool] = False


@dataclass(slots=True, weakref_slot=True)
class WorkqueueResourceOptions:
    """Options of `WorkqueueResource.configure`; None does not change a setting.

    Host only.

    Parameters
    ----------
    sharing_scope : str or WorkqueueSharingScopeType, optional
        ``"device_ctx"``: all contexts of the device share the queues; ``"green_ctx_balanced"``:
        green contexts use separate queues while enough queues exist.
    concurrency_limit : int, optional
        Expected number of streams with concurrent work, at least 1.
    """

    sharing_scope: WorkqueueSharingScopeType | str | None = None
    concurrency_limit: int | None = None

    def __post_init__(self) -> None:
        checked_workqueue(self)


def checked_workqueue(options):
    """Return the fields of `WorkqueueResourceOptions` as a str and an int, None if unset."""
    scope, limit = options.sharing_scope, options.concurrency_limit
    is_known = isinstance(scope, str) and scope in list(WorkqueueSharingScopeType)
    if scope is not None and not is_known:
        raise ValueError(
            f"sharing_scope: {shown(scope)} is not a valid WorkqueueSharingScopeType. Must be "
            "None, 'device_ctx' or 'green_ctx_balanced'"
        )
    if limit is not None:
        limit = _index(limit, "concurrency_limit must be an int or None")
        if limit < 1:
            raise ValueError(f"concurrency_limit must be >= 1, got {limit}")
        if limit > 0xFFFFFFFF:
            raise ValueError(f"concurrency_limit must be less than 2**32, got {limit}")
    return None if scope is None else str(scope), limit


def _is_sequence(value):
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _number(field, value):
    if value is None:
        return 0
    return _index(value, f"{field} must be int, Sequence, or None")


def _index(value, rule):
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{rule}, got {type(value).__name__}") from None


def _for_each_group(field, value, count):
    """Return a field's value for each of `count` groups; `count` is None for one scalar group."""
    if not _is_sequence(value):
        return [value] * (1 if count is None else count)
    if count is None:
        raise ValueError(f"SMResourceOptions.{field} is a sequence, but count is scalar")
    if len(value) != count:
        raise ValueError(
            f"SMResourceOptions.{field} has {len(value)} values, expected {count}: one for each "
            "count"
        )
    return list(value)


def requested_groups(options):
    """Return for each group: count, coscheduled count, preferred coscheduled count, flags."""
    count = options.count
    number = None
    if _is_sequence(count):
        number = len(count)
        if number == 0:
            raise ValueError("SMResourceOptions.count must not be empty")
    counts = [_number("count", n) for n in (count if number is not None else [count])]
    coscheduled, preferred = (
        [_number(field, n) for n in _for_each_group(field, getattr(options, field), number)]
        for field in ("coscheduled_sm_count", "preferred_coscheduled_sm_count")
    )
    flags = [
        _BACKFILL if flag else 0 for flag in _for_each_group("backfill", options.backfill, number)
    ]
    return list(zip(counts, coscheduled, preferred, flags, strict=True))


def require_counts(groups):
    """Raise ValueError for an impossible number of multiprocessors."""
    for name, index in (("count", 0), ("coscheduled_sm_count", 1)):
        for group in groups:
            if group[index] < 0:
                raise ValueError(f"{name} must be non-negative, got {group[index]}")
            if group[index] > 0xFFFFFFFF:
                raise ValueError(f"{name} must be less than 2**32, got {group[index]}")
    if any(not 0 <= group[2] <= 0xFFFFFFFF for group in groups):
        raise ValueError("preferred_coscheduled_sm_count must be non-negative and less than 2**32")


def equal_count(groups):
    """Return the common count of all groups, for drivers that support equal groups only."""
    if any(coscheduled or preferred for _, coscheduled, preferred, _ in groups):
        raise RuntimeError(
            "coscheduled_sm_count and preferred_coscheduled_sm_count need a driver of CUDA 13.1 or "
            "newer"
        )
    counts = {count for count, *_ in groups}
    if len(counts) > 1:
        raise RuntimeError(
            "a driver before CUDA 13.1 supports homogeneous groups only: use one count for all"
        )
    return counts.pop()


for _cls in (ContextOptions, SMResourceOptions, WorkqueueResourceOptions):
    _cls.__module__ = "cuda.core"
del _cls
