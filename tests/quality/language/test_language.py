# SPDX-License-Identifier: Apache-2.0
"""The language of the tree: names, comments, pages, spelling and commit messages."""

import re
import subprocess

import pytest

from build_support.commit_message import SUBJECT_LIMIT, problems_of

from ..test_lint import SPELLING, tool
from . import measures as language

SOURCES = ("cpp", "cuda", "generator", "halfwarp", "build_support", "benchmarks", "setup.py")
TESTS = ("tests", "cpp/tests", "examples")
PAGES = ("*.rst", "*.md")
# Places that a measure counts today. A limit may only fall.
LIMITS = {
    ("names", SOURCES): 9,
    ("names", TESTS): 2,
    ("subjects", SOURCES): 0,
    ("subjects", TESTS): 2,
    ("verbs", SOURCES): 7,
    ("verbs", TESTS): 6,
    ("verbs", PAGES): 0,
    ("long", PAGES): 23,
    ("spelling", (*SOURCES, *TESTS, *PAGES)): 0,
}
# Commits after this one follow the rules of vocabulary.md.
FIRST_RULED_COMMIT = "3594182f"
QUOTED_SPELLINGS = {"neighbours"}  # a message names a renamed file


@pytest.mark.parametrize(("measure", "paths"), LIMITS, ids=lambda value: str(value)[:30])
def test_no_more_places_than_today(tracked, measure, paths):
    files = language.tracked_files(*paths)
    if paths is SOURCES:
        files = [path for path in files if "tests" not in path.split("/")]
    places = language.places(measure, files)
    limit = LIMITS[measure, paths]
    listed = "\n".join(map(str, places))
    assert len(places) <= limit, f"{len(places)} places, at most {limit}:\n{listed}"
    assert len(places) == limit, f"lower the limit of {measure} to {len(places)}"


SAMPLE = {
    "sample.cpp": """// SPDX-License-Identifier: Apache-2.0
// What is kept here goes with the stream.
int f(int given, bool is_open) { auto found = g(given); return found; }
// Returns the normalised size.
""",
    "sample.pyx": '''# SPDX-License-Identifier: Apache-2.0
cdef int size(object made, int count) except -1:
    """That of the stream."""
    where = made.size
    return where
''',
    "sample.md": f"The stream is told anew to wait.\n\n{'word ' * 31}.\n",
}
COUNTED = {
    ("names", "sample.cpp"): ["given", "found"],
    ("names", "sample.pyx"): ["made", "where"],
    ("subjects", "sample.cpp"): ["What is kept here goes with the stream."],
    ("subjects", "sample.pyx"): ["That of the stream."],
    ("verbs", "sample.cpp"): ["What is kept here goes with the stream."],
    ("verbs", "sample.md"): ["The stream is told anew to wait."],
    ("long", "sample.md"): [("word " * 31 + ".")],
    ("spelling", "sample.cpp"): ["normalised"],
}


@pytest.mark.parametrize(("measure", "name"), COUNTED)
def test_each_measure_counts_what_it_names(measure, name, tmp_path, monkeypatch):
    monkeypatch.setattr(language, "ROOT", tmp_path)
    (tmp_path / name).write_text(SAMPLE[name])
    texts = [place.text for place in language.places(measure, [name])]
    assert texts == COUNTED[measure, name]


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        ("", "The subject is empty."),
        ("x" * (SUBJECT_LIMIT + 1), "characters; the limit is 72."),
        ("Release the lock.", "ends with a period."),
        ("release the lock", "lower-case letter."),
        ("Fixed the lock", "not with an imperative."),
        ("The lock is released", "not with an imperative."),
        ("Release the lock\nnow", "is not blank."),
    ],
)
def test_a_wrong_message_is_named(message, problem):
    assert any(text.endswith(problem) for text in problems_of(message))


@pytest.mark.parametrize(
    "message",
    ["Release the lock", "Release the lock\n\nThe reason.\n# a comment", "Speed up", "Merge main"],
)
def test_a_right_message_passes(message):
    assert problems_of(message) == []


def commit_messages(root):
    command = ["git", "log", "--format=%B%x00", f"{FIRST_RULED_COMMIT}..HEAD"]
    log = subprocess.run(command, cwd=root, capture_output=True, text=True)
    if log.returncode != 0:
        pytest.skip("the history is not there: not a clone, or a shallow one")
    return [message.strip("\n") for message in log.stdout.split("\0") if message.strip()]


def test_commits_follow_the_rules(root):
    wrong = {m.splitlines()[0]: p for m in commit_messages(root) if (p := problems_of(m))}
    assert not wrong


def test_commits_are_spelled_well(root, tmp_path):
    messages = tmp_path / "messages"
    messages.write_text("\n\n".join(commit_messages(root)))
    command = [tool(SPELLING[0]), *SPELLING[1:], messages]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    found = re.findall(r"(\w+) ==>", done.stdout)
    assert not set(found) - QUOTED_SPELLINGS, done.stdout
