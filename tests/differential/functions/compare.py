# SPDX-License-Identifier: Apache-2.0
"""Differences between the outcomes of two implementations, and the rules that accept them."""

import json
import re
import tomllib
from pathlib import Path

NOT_RUN = ["not run"]
ANY = ["any"]  # in a pattern: a part that may change from run to run
RULES = Path(__file__).with_name("accepted.toml")
CONDITIONS = ("function", "kind", "variant", "call", "theirs", "ours")


def steady(first, second):
    """Return the parts in which two runs of one implementation agree; the rest is ANY."""
    if first == second:
        return first
    if isinstance(first, dict) and isinstance(second, dict) and first.keys() == second.keys():
        return {key: steady(value, second[key]) for key, value in first.items()}
    if isinstance(first, list) and isinstance(second, list) and len(first) == len(second):
        return [steady(a, b) for a, b in zip(first, second, strict=True)]
    return ANY


def alike(pattern, outcome):
    """Return whether our outcome equals the reference's, where that is deterministic."""
    if pattern in (ANY, outcome):
        return True
    if isinstance(pattern, dict) and isinstance(outcome, dict):
        # our additional fields are no difference
        return all(key in outcome and agree(value, outcome[key]) for key, value in pattern.items())
    if not isinstance(pattern, list) or not isinstance(outcome, list):
        return False
    if pattern[:1] == ["raises"] and outcome[:1] == ["raises"]:
        # our exception class may derive from the class that existing code catches
        return pattern[1] in outcome[2] and pattern[3] == outcome[3]
    if pattern[:1] == ["structs"] and len(outcome) == 2:  # an array whose class NumPy does not know
        return alike(pattern[1], outcome[1])
    return len(pattern) == len(outcome) and all(map(alike, pattern, outcome))


def agree(pattern, field):
    """Return whether a field of a struct is equal: an unused member of a union need not be."""
    is_nameless = pattern[:2] == ["raises", "ValueError"] and str(field[-1]).startswith("UNKNOWN_")
    return is_nameless or alike(pattern, field)


def text_of(outcome):
    """Return one line for a reader and for the rules."""
    if outcome[:1] == ["raises"]:
        return f"raises {outcome[1]}" + (f" {outcome[3]}" if outcome[3] is not None else "")
    if outcome[:1] in (["tuple"], ["list"]) and isinstance(outcome[1], list):
        return f"({', '.join(map(text_of, outcome[1]))})"
    return " ".join(part if isinstance(part, str) else json.dumps(part) for part in outcome)


def is_no_answer(outcome, codes):
    """Return whether the machine of the run cannot give a result."""
    code = outcome[1][0] if outcome[0] == "tuple" and outcome[1] else []
    return len(code) == 2 and code[1] in codes


def shape(outcome):
    """Return the number of parts of a result."""
    return [outcome[0], len(outcome[1])] if outcome[0] == "tuple" else outcome[:2]


def differences(cases, theirs, repeated, ours, no_answer=()):
    """Return the cases that differ, with both results as text."""
    differing = []
    for case, first, second, mine in zip(cases, theirs, repeated, ours, strict=True):
        if NOT_RUN in (first, second, mine):
            continue
        pattern = steady(first, second)
        if is_no_answer(first, no_answer):
            if shape(first) == shape(mine):
                continue
        elif alike(pattern, mine):
            continue
        differing.append(case | {"theirs": text_of(pattern), "ours": text_of(mine)})
    return differing


class Accepted:
    """Counts the use of each rule."""

    def __init__(self, backend, path=RULES):
        rows = tomllib.loads(path.read_text()).get("rule", []) if path.exists() else []
        self.rules = [r for r in rows if backend in r.get("backends", ["emulator", "gpu"])]
        self.uses = [0] * len(self.rules)

    def rule_for(self, module, difference):
        for number, rule in enumerate(self.rules):
            if self.fits(rule, module, difference):
                self.uses[number] += 1
                return rule
        return None

    @staticmethod
    def fits(rule, module, difference):
        if not re.fullmatch(rule.get("module", ".*"), module):
            return False
        return all(re.fullmatch(rule.get(c, ".*"), difference[c], re.S) for c in CONDITIONS)

    def unused(self, modules):
        """Return the titles of the required rules for these modules that this run did not use."""
        return [
            rule["title"]
            for rule, uses in zip(self.rules, self.uses, strict=True)
            if not uses
            and not rule.get("sometimes")
            and any(re.fullmatch(rule.get("module", ".*"), name) for name in modules)
        ]
