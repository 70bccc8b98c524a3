# SPDX-License-Identifier: Apache-2.0
"""All that the doctor found, as one record. `SCHEMA` grows when a key changes its meaning."""

from halfwarp.doctor.apart import examine_all
from halfwarp.doctor.inside import guarded
from halfwarp.doctor.relations import compare

SCHEMA = 1


def examine():
    """The record that ``--json`` prints.

    ``schema``; ``is_healthy``: no problem; ``problems`` and ``warnings``: lists of ``probe``,
    ``what`` and ``remedy``; ``facts``: what each probe found, by its name. Keys are added, never
    removed, within one schema.
    """
    results = examine_all()
    facts = {"libraries": {}}
    for probe, findings in results.items():
        name, _, subject = probe.partition(":")
        (facts[name] if subject else facts)[subject or name] = findings.facts
    results["relations"] = guarded("relations", lambda found: compare(found, facts))
    problems, warnings = (
        [{"probe": probe, **each} for probe, found in results.items() for each in found_in(found)]
        for found_in in (lambda found: found.problems, lambda found: found.warnings)
    )
    return {
        "schema": SCHEMA,
        "is_healthy": not problems,
        "problems": problems,
        "warnings": warnings,
        "facts": facts,
    }
