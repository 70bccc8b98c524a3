# SPDX-License-Identifier: Apache-2.0
"""Convert reports of the emulator, one JSON object per line, to SARIF 2.1.0 for code hosts."""

import json
import os
import re
import sys
from fnmatch import fnmatchcase
from pathlib import Path
from urllib.parse import quote

_WARNINGS = {"leak"}


def read_reports(path):
    """Return the faults and findings of a report file, without notes."""
    reports = []
    for number, line in enumerate(Path(path).read_text(encoding="utf-8").split("\n"), 1):
        try:
            reports += [json.loads(line)] if line.startswith("{") else []
        except ValueError as error:
            raise ValueError(f"{path}:{number}: no JSON object: {error}") from None
    return [report for report in reports if "first_line" in report]


def key_of(report):
    """Return what identifies a mistake: its kind, kernel and places in the program."""
    earlier = report["earlier"] or {}
    places = sorted(
        f"{each.get('source_file', '')}:{each.get('source_line', 0) or each.get('ptx_line', 0)}"
        for each in (report, earlier)
    )
    site = (report["nearest"] or {}).get("created_at", "")
    hazard = report["detail"] if report["kind"] == "hazard" else ""
    return " ".join([report["kind"], report["kernel"], *places, site, hazard]).strip()


_RULE = re.compile(
    r"(?P<kind>\S+)\s+(?P<kernel>\S+)\s+(?P<file>[^\s:]+)(:(?P<line>\d+))?\s+(?P<reason>\S.*)"
)


class Suppressions:
    """Rules ``kind kernel-glob file-glob[:line] reason``, one a line; ``#`` begins a comment."""

    def __init__(self, text="", path=""):
        self.rules, self.unused = [], {}  # matches; by number of the rule, its place and text
        for number, line in enumerate(text.splitlines(), 1):
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            match = _RULE.fullmatch(line.strip())
            if not match:
                raise ValueError(
                    f"{path}:{number}: {line!r} is not of the form "
                    "'kind kernel-glob file-glob[:line] reason'"
                )
            self.unused[len(self.rules)] = f"{path}:{number}: {line}"
            self.rules.append(match)

    def reason_for(self, report):
        """Return the reason of the first rule that covers a report, or None."""
        for number, rule in enumerate(self.rules):
            source, line = report["source_file"], rule["line"]
            covers = (
                fnmatchcase(report["kind"], rule["kind"])
                and fnmatchcase(report["kernel"], rule["kernel"])
                and (fnmatchcase(source, rule["file"]) or fnmatchcase(source, f"*/{rule['file']}"))
                and (not line or int(line) == report["source_line"])
            )
            if covers:
                self.unused.pop(number, None)
                return rule["reason"]
        return None


def convert(reports, root, suppressions=None):
    """Return a SARIF log of reports. Places in files below `root` are relative to it."""
    results = {}
    for report in reports:
        key = key_of(report)
        if key in results:
            results[key]["occurrenceCount"] += report["count"]
        else:
            results[key] = _result(report, key, root, suppressions)
    kinds = sorted({report["kind"] for report in reports})
    rules = [{"id": f"halfwarp/{kind}", "name": kind} for kind in kinds]
    driver = {"name": "halfwarp", "rules": rules}
    run = {
        "tool": {"driver": driver},
        "originalUriBaseIds": {"SRCROOT": {"uri": Path(root).resolve().as_uri() + "/"}},
        "results": list(results.values()),
    }
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [run],
    }


def _result(report, key, root, suppressions):
    site = (report["nearest"] or {}).get("created_at", "")
    places = [_location(report["source_file"], report["source_line"], root, "the access")]
    if earlier := report["earlier"]:
        places.append(
            _location(earlier["source_file"], earlier["source_line"], root, "the earlier access")
        )
    file, _, line = site.rpartition(":")
    places.append(_location(file, int(line or 0), root, "the allocation"))
    known = [place for place in places if place]
    result = {
        "ruleId": f"halfwarp/{report['kind']}",
        "level": "warning" if report["kind"] in _WARNINGS else "error",
        "message": {"text": report["text"]},
        "locations": known[:1],
        "relatedLocations": known[1:],
        "partialFingerprints": {"halfwarpKey/v1": key},
        "occurrenceCount": report["count"],
        "properties": {"seed": report["seed"], "kernel": report["kernel"]},
    }
    reason = suppressions.reason_for(report) if suppressions else None
    if reason is not None:
        result["suppressions"] = [{"kind": "external", "justification": reason}]
    return result


def _location(file, line, root, text):
    """Return a place, or None if no file of the program is known."""
    if not file or not line:
        return None
    absolute = os.path.abspath(file)
    relative = os.path.relpath(absolute, root)
    is_below = not relative.startswith("..")
    artifact = {"uri": quote(Path(relative).as_posix()), "uriBaseId": "SRCROOT"}
    if not is_below:
        artifact = {"uri": Path(absolute).as_uri()}
    return {
        "physicalLocation": {"artifactLocation": artifact, "region": {"startLine": line}},
        "message": {"text": text},
    }


def main(arguments):
    """Write a SARIF file; return 1 if a report is not suppressed."""
    rules = None
    if arguments[:1] == ["--suppress"]:
        rules, arguments = arguments[1:2], arguments[2:]
    if len(arguments) != 2 or rules == []:
        print("usage: sarif [--suppress FILE] REPORTS.jsonl OUTPUT.sarif", file=sys.stderr)
        return 2
    try:
        suppressions = Suppressions()
        if rules:
            suppressions = Suppressions(Path(rules[0]).read_text(encoding="utf-8"), rules[0])
        log = convert(read_reports(arguments[0]), os.getcwd(), suppressions)
        Path(arguments[1]).write_text(json.dumps(log, indent=1), encoding="utf-8")
    except (OSError, ValueError) as error:
        print(f"sarif: {error}", file=sys.stderr)
        return 2
    for rule in suppressions.unused.values():
        print(f"sarif: {rule}: no report matched this suppression", file=sys.stderr)
    return int(any("suppressions" not in each for each in log["runs"][0]["results"]))
