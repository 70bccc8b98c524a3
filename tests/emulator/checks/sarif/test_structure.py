# SPDX-License-Identifier: Apache-2.0
"""SARIF logs have the structure of the schema of SARIF 2.1.0: required and known properties."""

import json
from urllib.parse import urlparse

import pytest
from cuda.core.emulation import sarif

from ..run_cases import run_all

TEXT, COUNT, LINE = "text", "count", "line"
# By type: the properties, with the type of each; a list has items, a dict has values of one type.
# Properties with a star are required. The log has no other properties of the schema.
TYPES = {
    "log": {"$schema": TEXT, "*version": ("2.1.0",), "*runs": ["run"]},
    "run": {"*tool": "tool", "results": ["result"], "originalUriBaseIds": {"": "artifact"}},
    "tool": {"*driver": "component"},
    "component": {"*name": TEXT, "rules": ["rule"]},
    "rule": {"*id": TEXT, "name": TEXT},
    "result": {
        "ruleId": TEXT,
        "level": ("none", "note", "warning", "error"),
        "*message": "message",
        "locations": ["location"],
        "relatedLocations": ["location"],
        "partialFingerprints": {"": TEXT},
        "occurrenceCount": COUNT,
        "suppressions": ["suppression"],
        "properties": {},
    },
    "message": {"*text": TEXT},
    "location": {"*physicalLocation": "physical", "message": "message"},
    "physical": {"*artifactLocation": "artifact", "region": "region"},
    "artifact": {"*uri": "uri", "uriBaseId": TEXT},
    "region": {"*startLine": LINE},
    "suppression": {"*kind": ("inSource", "external"), "justification": TEXT},
}


def problems(value, kind, place="log"):
    """Return the places at which a value does not have the structure of a type."""
    if isinstance(kind, list):
        if not isinstance(value, list):
            return [f"{place}: no array"]
        return [p for n, v in enumerate(value) for p in problems(v, kind[0], f"{place}[{n}]")]
    if isinstance(kind, tuple):
        return [] if value in kind else [f"{place}: {value!r}"]
    if isinstance(kind, dict):
        if not isinstance(value, dict):
            return [f"{place}: no object"]
        inner = kind.get("")
        return [p for k, v in value.items() if inner for p in problems(v, inner, f"{place}.{k}")]
    if kind in (COUNT, LINE):
        return [] if type(value) is int and value >= 1 else [f"{place}: {value!r}"]
    if kind == TEXT:
        return [] if isinstance(value, str) and value else [f"{place}: {value!r}"]
    if kind == "uri":
        is_reference = isinstance(value, str) and not set(value) & set(' <>"{}|\\^`')
        return [] if is_reference and urlparse(value).scheme in ("", "file") else [f"{place}: uri"]
    return problems_of_object(value, TYPES[kind], place)


def problems_of_object(value, properties, place):
    known = {name.lstrip("*"): kind for name, kind in properties.items()}
    required = {name[1:] for name in properties if name.startswith("*")}
    faults = [f"{place}: no {name}" for name in sorted(required - value.keys())]
    faults += [f"{place}: unknown {name}" for name in sorted(value.keys() - known.keys())]
    for name in known.keys() & value.keys():
        faults += problems(value[name], known[name], f"{place}.{name}")
    return faults


CASES = [
    ("races", "block_store_store", "race"),
    ("uninitialized", "branch_on_memory", "init"),
    ("barriers", "barrier_in_a_branch", "barrier"),
]


def check_rules(log):
    (run,) = log["runs"]
    rules = [each["id"] for each in run["tool"]["driver"]["rules"]]
    assert len(rules) == len(set(rules))
    assert {each["ruleId"] for each in run["results"]} == set(rules)
    assert all(each["uri"].endswith("/") for each in run.get("originalUriBaseIds", {}).values())


@pytest.mark.parametrize(("module", "name", "check"), CASES, ids=lambda value: value)
def test_a_log_of_a_process_has_the_structure(tmp_path, module, name, check):
    path = tmp_path / "a b.sarif"
    reports = run_all(module, name, check=f"memory,sync,{check}", trace="site", report=str(path))
    assert reports[name]["mistake"]
    log = json.loads(path.read_text())
    assert problems(log, "log") == []
    assert log["runs"][0]["results"]
    check_rules(log)


@pytest.mark.parametrize(("module", "name", "check"), CASES, ids=lambda value: value)
def test_a_converted_log_has_the_structure(tmp_path, module, name, check):
    path = tmp_path / "a.jsonl"
    run_all(module, name, check=f"memory,sync,{check}", trace="site", report=str(path))
    reports = sarif.read_reports(path)
    rules = sarif.Suppressions(f"{reports[0]['kind']} * * known\n")
    log = json.loads(json.dumps(sarif.convert(reports, tmp_path, rules)))
    assert problems(log, "log") == []
    check_rules(log)


def test_a_log_without_reports_has_the_structure(tmp_path):
    log = sarif.convert([], tmp_path)
    assert problems(log, "log") == []
    assert log["runs"][0]["results"] == []


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"version": "2.0"}, "log.version: '2.0'"),
        ({"runs": [{}]}, "log.runs[0]: no tool"),
        ({"more": 1}, "log: unknown more"),
        ({"runs": {}}, "log.runs: no array"),
    ],
)
def test_another_structure_is_detected(tmp_path, change, problem):
    assert problem in problems(sarif.convert([], tmp_path) | change, "log")
