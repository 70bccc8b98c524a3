# SPDX-License-Identifier: Apache-2.0
"""Check a commit message: an imperative subject of at most 72 characters, then a blank line.

python -m build_support.commit_message FILE     (the commit-msg hook)
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

SUBJECT_LIMIT = 72
# Git generates these subjects.
GENERATED = re.compile(r"(Merge|Revert|fixup!|squash!|amend!) ?")
NOT_IMPERATIVE = re.compile(r"(A|An|The|This|That|What|Of|In|It|\w+(?:ed|ing))\b")
IMPERATIVES_IN_ED = {"Embed", "Feed", "Need", "Seed", "Shed", "Speed", "Bring", "Spring", "String"}


def problems_of(message: str) -> list[str]:
    """Return what is wrong with a message, one sentence each."""
    lines = [line for line in message.splitlines() if not line.startswith("#")]
    subject = lines[0] if lines else ""
    if GENERATED.match(subject):
        return []
    problems = []
    if not subject.strip():
        problems.append("The subject is empty.")
    if len(subject) > SUBJECT_LIMIT:
        problems.append(f"The subject has {len(subject)} characters; the limit is {SUBJECT_LIMIT}.")
    if subject.endswith("."):
        problems.append("The subject ends with a period.")
    if subject[:1].islower():
        problems.append("The subject begins with a lower-case letter.")
    first_word = NOT_IMPERATIVE.match(subject)
    if first_word and first_word[0] not in IMPERATIVES_IN_ED:
        problems.append(f"The subject begins with {first_word[0]!r}, not with an imperative.")
    if len(lines) > 1 and lines[1].strip():
        problems.append("The line after the subject is not blank.")
    return problems


def main() -> int:
    path = Path(sys.argv[1])
    problems = problems_of(path.read_text())
    for problem in problems:
        print(f"{path}: {problem}", file=sys.stderr)
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
