# SPDX-License-Identifier: Apache-2.0
"""Tables of the counters of a profile: definitions, and the kernels that ncu counted on a GPU."""

import json

from cuda.core.emulation.profiling.counters import DEFINITIONS, SUM_METRICS, SUMMANDS

from .tables import list_table


def definitions():
    """Return the table of counters, with the metric of ncu beside each."""
    rows = [[f"``{name}``", each.text, _code(each.metric)] for name, each in DEFINITIONS.items()]
    for name, summands in SUMMANDS.items():
        text = "sum of " + ", ".join(f"``{each}``" for each in summands)
        rows.append([f"``{name}``", text, _code(SUM_METRICS.get(name, ""))])
    return list_table(["counter", "meaning", "metric of ncu"], rows, [25, 45, 30])


def measured(text):
    """Return the tables of the metrics that are equal, and of those that are not."""
    record = json.loads(text)
    metrics, equal = record["metrics"], []
    for metric in metrics:
        others = {n: d[metric] for n, d in record["differences"].items() if metric in d}
        values = [dict(zip(metrics, k, strict=True))[metric] for k in record["kernels"].values()]
        note = f"not in {', '.join(others)}: {next(iter(others.values()))}" if others else ""
        row = [_code(metric), str(len(values) - len(others)), str(sum(map(bool, values))), note]
        if metric not in record["unequal"] and any(values):
            equal.append(row)
    head = ["metric of ncu", "kernels", "not 0", "exceptions"]
    unequal = [[_code(metric), reason] for metric, reason in record["unequal"].items()]
    return "\n".join(
        [
            f"{record['device']} (driver), ncu {record['ncu']}. Metrics that are equal:\n",
            list_table(head, equal, [45, 10, 10, 35]),
            "Metrics of the same meaning that are not:\n",
            list_table(["metric of ncu", "reason"], unequal, [50, 50]),
        ]
    )


def _code(text):
    return f"``{text}``" if text else ""
