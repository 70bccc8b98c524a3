# SPDX-License-Identifier: Apache-2.0
"""What may be asked of a green context and of its parts."""

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cuda.core.typing import WorkqueueSharingScopeType

if TYPE_CHECKING:
    from cuda.core import SMResource, WorkqueueResource

_BACKFILL = 1  # CU_DEV_SM_RESOURCE_GROUP_BACKFILL


@dataclass
class ContextOptions:
    """Options of `Device.create_context`.

    Host only.

    Parameters
    ----------
    resources : sequence of SMResource and WorkqueueResource
        What the context gets of its device. Several `SMResource` must come from one split.

    See Also
    --------
    cuDevResourceGenerateDesc : the driver function.
    """

    resources: "Sequence[SMResource | WorkqueueResource]"


@dataclass
class SMResourceOptions:
    """Options of `SMResource.split`: one group, or with a sequence of counts as many groups.

    Host only. The other fields may be sequences as long as that of the counts.

    Parameters
    ----------
    count : int or sequence of int, optional
        The multiprocessors of each group; None takes as many as are left.
    coscheduled_sm_count : int or sequence of int, optional
        How many of them are scheduled together, which bounds the size of a cluster.
    preferred_coscheduled_sm_count : int or sequence of int, optional
        The same, if it can be had.
    backfill : bool or sequence of bool
        Whether the count is more important than what is scheduled together.

    See Also
    --------
    cuDevSmResourceSplit : the driver function.
    """

    count: int | Sequence[int | None] | None = None
    coscheduled_sm_count: int | Sequence[int | None] | None = None
    preferred_coscheduled_sm_count: int | Sequence[int | None] | None = None
    backfill: bool | Sequence[bool] = False


@dataclass
class WorkqueueResourceOptions:
    """Options of `WorkqueueResource.configure`; None leaves a field as it is.

    Host only.

    Parameters
    ----------
    sharing_scope : str or WorkqueueSharingScopeType, optional
        ``"device_ctx"``: all contexts of the device share the queues; ``"green_ctx_balanced"``:
        green contexts get queues of their own as far as there are enough.
    concurrency_limit : int, optional
        How many streams are expected to have work at the same time, at least 1.
    """

    sharing_scope: WorkqueueSharingScopeType | str | None = None
    concurrency_limit: int | None = None

    def __post_init__(self) -> None:
        checked_workqueue(self)


def checked_workqueue(options):
    """The fields of `WorkqueueResourceOptions` as a str and an int, each None if it is left."""
    scope, limit = options.sharing_scope, options.concurrency_limit
    if scope is not None and scope not in list(WorkqueueSharingScopeType):
        raise ValueError(
            f"{scope!r} is not a valid WorkqueueSharingScopeType. Must be None, 'device_ctx' or "
            "'green_ctx_balanced'"
        )
    if limit is not None:
        limit = operator.index(limit)
        if not 1 <= limit <= 0xFFFFFFFF:
            raise ValueError(f"concurrency_limit must be >= 1, got {limit}")
    return None if scope is None else str(scope), limit


def _is_sequence(value):
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _number(field, value):
    if value is None:
        return 0
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(
            f"{field} must be int, Sequence, or None, got {type(value).__name__}"
        ) from None


def _for_each_group(field, value, count):
    """The value of a field for each of `count` groups; `count` is None for one scalar group."""
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
    """For each group its count, what is scheduled together, what preferably, and its flags."""
    count = options.count
    number = None
    if _is_sequence(count):
        number = len(count)
        if number == 0:
            raise ValueError("SMResourceOptions.count must not be empty")
    counts = [_number("count", n) for n in (count if number is not None else [count])]
    together, preferred = (
        [_number(field, n) for n in _for_each_group(field, getattr(options, field), number)]
        for field in ("coscheduled_sm_count", "preferred_coscheduled_sm_count")
    )
    flags = [
        _BACKFILL if flag else 0 for flag in _for_each_group("backfill", options.backfill, number)
    ]
    return list(zip(counts, together, preferred, flags, strict=True))


def require_counts(groups):
    """ValueError for a number of multiprocessors that cannot be."""
    for name, place in (("count", 0), ("coscheduled_sm_count", 1)):
        for group in groups:
            if group[place] < 0:
                raise ValueError(f"{name} must be non-negative, got {group[place]}")
            if group[place] > 0xFFFFFFFF:
                raise ValueError(f"{name} must be less than 2**32, got {group[place]}")
    if any(not 0 <= group[2] <= 0xFFFFFFFF for group in groups):
        raise ValueError("preferred_coscheduled_sm_count must be non-negative and less than 2**32")


def equal_count(groups):
    """The one count of all groups, for drivers that split into equal groups only."""
    if any(together or preferred for _, together, preferred, _ in groups):
        raise RuntimeError(
            "coscheduled_sm_count and preferred_coscheduled_sm_count need a driver of CUDA 13.1 or "
            "newer"
        )
    counts = {count for count, *_ in groups}
    if len(counts) > 1:
        raise RuntimeError(
            "a driver before CUDA 13.1 makes homogeneous groups only: give all the same count"
        )
    return counts.pop()


for _cls in (ContextOptions, SMResourceOptions, WorkqueueResourceOptions):
    _cls.__module__ = "cuda.core"
del _cls
