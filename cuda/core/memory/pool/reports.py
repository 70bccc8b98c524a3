# SPDX-License-Identifier: Apache-2.0
"""Reports of a PoolMemoryResource: live allocations, and its OutOfMemoryError."""

from cuda.core.arguments.shown import shown
from cuda.core.memory.adaptors.out_of_memory import out_of_memory_error
from cuda.core.memory.leaks import LiveAllocation
from cuda.core.memory.stacks import format_stack


def live_allocations(rows, stacks):
    """Return the records of live blocks, the oldest first. `stacks` maps addresses to stacks."""
    return sorted(
        (
            LiveAllocation(*row, format_stack(stacks[row[0]]) if row[0] in stacks else None)
            for row in rows
        ),
        key=lambda record: -record.age,
    )


def out_of_memory(pool, requested, error, is_tracked):
    """Return the OutOfMemoryError of a pool that cannot allocate `requested` bytes.

    `error` is the error of the upstream resource; None if the pool reached its own limit.
    """
    figures = pool.statistics()
    known = {
        "used": figures["allocated_bytes.current"],
        "reserved": figures["reserved_bytes.current"],
        "peak": figures["allocated_bytes.peak"],
        "limit": pool.max_size,
        "largest_free_block": figures["largest_free_block"],
        "device_free": getattr(error, "device_free", None),
        "device_total": getattr(error, "device_total", None),
    }
    listed = ", ".join(f"{k.replace('_', ' ')} {v}" for k, v in known.items() if v is not None)
    largest = sorted(pool.report_leaks(), key=lambda record: -record.size)[:10]
    advice = "free buffers, raise max_size, or request less"
    if error is not None:
        advice = f"free buffers, trim() other pools, or request less. Upstream: {error}"
    elif pool.max_size is None:
        advice = "request less"
    elif requested > pool.max_size:
        advice = f"the request exceeds its max_size of {pool.max_size}: raise it, or request less"
    text = f"{requested} bytes requested from {shown(pool)} ({listed}, all in bytes); {advice}"
    return out_of_memory_error(
        text,
        where=getattr(error, "where", None),
        requested=requested,
        device_id=pool.device_id,
        largest_allocations=largest if is_tracked else (),
        **known,
    )
