# SPDX-License-Identifier: Apache-2.0
"""The doctor's findings as one record. Increment `SCHEMA` when a key changes its meaning."""

from halfwarp.doctor.apart import examine_all
from halfwarp.doctor.inside import guarded
from halfwarp.doctor.relations import compare

SCHEMA = 1


def examine():
    """Run all probes and return the record that ``--json`` prints.

    Keys: ``schema``; ``is_healthy``: no problems; ``problems`` and ``warnings``: lists of
    ``probe``, ``what`` and ``remedy``; ``facts``: the facts of each probe, by its name. Within one
    schema keys are added, never removed.
    """
    results = examine_all()
    facts = {"libraries": {}}
    for probe, findings in results.items():
        name, _, subject = probe.partition(":")
        (facts[name] if subject else facts)[subject or name] = findings.facts
    results["relations"] = guarded("relations", lambda findings: compare(findings, facts))
    problems, warnings = (
        [
            {"probe": probe, **each}
            for probe, findings in results.items()
            for each in entries_of(findings)
        ]
        for entries_of in (lambda findings: findings.problems, lambda findings: findings.warnings)
    )
    return {
        "schema": SCHEMA,
        "is_healthy": not problems,
        "problems": problems,
        "warnings": warnings,
        "facts": facts,
    }
