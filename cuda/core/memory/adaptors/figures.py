# SPDX-License-Identifier: Apache-2.0
"""The dictionaries of `statistics`, for adaptors and for the pool upstream of them."""


def figures_of(ledger):
    """Return the totals of a ledger under the keys of `statistics`. Host only."""
    current, peak, total, allocations, frees = ledger.sums()
    return {
        "allocated_bytes.current": current,
        "allocated_bytes.peak": peak,
        "allocated_bytes.total": total,
        "allocation_count.current": allocations - frees,
        "allocation_count.total": allocations,
        "reserved_bytes.current": current,
        "reserved_bytes.peak": peak,
        "reuse_same_stream": 0,
        "reuse_cross_stream": 0,
        "cross_stream_waits": 0,
        "upstream_allocs": allocations,
        "upstream_frees": frees,
        "oom_retries": 0,
        "largest_free_block": 0,
        "fragmentation": 0.0,
    }


OWN = ("allocated_bytes.", "allocation_count.")


def combined(own, resource):
    """Return the counts of an adaptor with the pool figures of its upstream. Host only."""
    figures = pool_figures_of(resource)
    return own | {key: value for key, value in figures.items() if not key.startswith(OWN)}


def pool_figures_of(resource):
    """Return the pool figures of a resource; {} if it has none. Host only."""
    if hasattr(resource, "statistics"):
        return resource.statistics()
    try:
        attributes = resource.attributes
    except (AttributeError, RuntimeError):  # no pool, or closed
        return {}
    return {
        "reserved_bytes.current": attributes.reserved_mem_current,
        "reserved_bytes.peak": attributes.reserved_mem_high,
    }
