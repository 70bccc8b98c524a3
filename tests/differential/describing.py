# SPDX-License-Identifier: Apache-2.0
"""Results as text that is equal in both implementations when the results are."""

import re

ADDRESS = re.compile(r"0x[0-9a-f]{2,}")


class Names(frozenset):
    """Words that must all be present; additional words are no difference."""


def describe(value):
    """Return a text that is equal for equal values in both implementations, whatever the
    address."""
    if isinstance(value, Names):
        return " ".join(["names:", *sorted(value)])
    if isinstance(value, (list, tuple)):
        named = "" if type(value) in (list, tuple) else type(value).__name__
        opening, closing = ("[", "]") if isinstance(value, list) else ("(", ")")
        return named + opening + ", ".join(map(describe, value)) + closing
    if isinstance(value, (set, frozenset)):
        return "{" + ", ".join(sorted(map(describe, value))) + "}"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{describe(k)}: {describe(v)}" for k, v in value.items()) + "}"
    if isinstance(value, type):
        return f"class {value.__name__}"
    if isinstance(value, int) and not isinstance(value, bool) and not hasattr(value, "name"):
        return int.__repr__(value)
    return ADDRESS.sub("0x...", repr(value))
