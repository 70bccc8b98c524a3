# SPDX-License-Identifier: Apache-2.0
"""The table of the counters of a profile, with the metrics of ncu."""

from cuda.core.emulation.profiling.counters import DEFINITIONS, SUMMANDS

from .tables import list_table


def definitions():
    """Return the table of counters, with the metric of ncu beside each."""
    rows = [
        [f"``{name}``", each.text, f"``{each.metric}``" if each.metric else ""]
        for name, each in DEFINITIONS.items()
    ]
    rows += [
        [f"``{name}``", "sum of " + ", ".join(f"``{each}``" for each in summands), ""]
        for name, summands in SUMMANDS.items()
    ]
    return list_table(["counter", "meaning", "metric of ncu"], rows, [25, 45, 30])
