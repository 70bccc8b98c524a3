# SPDX-License-Identifier: Apache-2.0
"""What `statistics` tells of a resource that keeps nothing, and of the pool below it."""


def figures_of(ledger):
    """The sums of a ledger under the names of `statistics`. Host only."""
    current, peak, total, taken, returned = ledger.sums()
    return {
        "allocated_bytes.current": current,
        "allocated_bytes.peak": peak,
        "allocated_bytes.total": total,
        "allocation_count.current": taken - returned,
        "allocation_count.total": taken,
        "reserved_bytes.current": current,
        "reserved_bytes.peak": peak,
        "reuse_same_stream": 0,
        "reuse_cross_stream": 0,
        "cross_stream_waits": 0,
        "upstream_allocs": taken,
        "upstream_frees": returned,
        "oom_retries": 0,
        "largest_free_block": 0,
        "fragmentation": 0.0,
    }


OWN = ("allocated_bytes.", "allocation_count.")


def combined(own, resource):
    """Figures of an adaptor: its counts, and of what keeps memory, those of upstream. Host only."""
    return own | {n: value for n, value in figures_below(resource).items() if not n.startswith(OWN)}


def figures_below(resource):
    """What a resource tells of the memory that it keeps; {} if nothing. Host only."""
    if hasattr(resource, "statistics"):
        return resource.statistics()
    try:
        attributes = resource.attributes
    except (AttributeError, RuntimeError):  # it has no pool, or is closed
        return {}
    return {
        "reserved_bytes.current": attributes.reserved_mem_current,
        "reserved_bytes.peak": attributes.reserved_mem_high,
    }
