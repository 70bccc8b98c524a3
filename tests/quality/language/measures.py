# SPDX-License-Identifier: Apache-2.0
"""Measure the language of the tree against docs/design/vocabulary.md.

    python -m tests.quality.language.measures [names|subjects|verbs|long|spelling] [PATH...]

lists the places that a measure counts.
"""

from __future__ import annotations

import argparse
import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
BRACES, PYTHON, PAGES = (".cpp", ".hpp", ".h"), (".py", ".pyx", ".pxd", ".pxi"), (".rst", ".md")
# Sources with sentences of their own; vocabulary.md lists the words that are not used.
EXCLUDED = re.compile(r"generator/api/|docs/design/vocabulary\.md|tests/quality/language/")
WORDS_IN_A_SENTENCE = 30

# Words that are roles in a sentence, not nouns of a thing.
ROLE = (
    "in|what|where|how|on|which|whose|gone|made|asked|given|wanted|kept|found|told|said|took|"
    "left|others|more|rest|again"
)
DECLARED_IN_BRACES = re.compile(
    rf"(?<![\w.>])(?!(?:return|for|else|case|co_return|using|namespace|throw|new|delete)\b)"
    rf"[\w:]+(?:<[^;()]*?>)?(?:\s+const)?\s*[&*]*\s+[&*]*(?P<name>{ROLE})\s*(?=[,)=;{{\[:]|$)"
)
ASSIGNED_IN_CYTHON = re.compile(rf"\s*(?:cdef\s+[\w ]+?\s+)?(?P<name>{ROLE})\s*=[^=]")
PARAMETER_IN_CYTHON = re.compile(rf"[(,]\s*(?:[\w\[\]&*]+ )?[&*]*(?P<name>{ROLE})\s*(?=[,)=:])")
FUNCTION_IN_CYTHON = re.compile(r"\s*(?:async )?(?:def|cdef)\b.*\(")

NO_SUBJECT = re.compile(
    r"(what|who|whose|whoever|of|that|those|one|the same|likewise|where|which|whether it|it|as|so|"
    r"its|else|after|before|once more|also)\b",
    re.IGNORECASE,
)
HOUSEHOLD_VERB = re.compile(
    r"\b(goes|gone|went|given back|gives? back|give up|gives? up|let go|lets go|is asked|are asked|"
    r"asks for|told|tells|anew|of ours|that of|those of|the one of|one of its|is of|are of|"
    r"meanwhile)\b",
    re.IGNORECASE,
)
BRITISH = re.compile(
    r"\b\w*?((?:initial|special|normal|synchron|recogn|optim|general|serial|util|visual|vector|"
    r"summa(?:r)|organ|character|final|minim|maxim|random|tokeni|emphas|catego(?:r)|capital|"
    r"memo(?:r)|real)"
    r"is(?:e[drs]?|es|ing|ations?|er)|colou?r(?<=our)\w*|(?:behavi|neighb|fav|hon)ou(?:r)\w*|"
    r"centre[sd]?|grey\w*|licence\w*|(?:cance|labe|mode)ll(?:ed|ing)|"
    r"travell\w+|fulfils?|catalogue\w*|defence|artefact\w*)(?![a-z])",
    re.IGNORECASE,
)
# "promise", "raise" and such end alike; CUDA, Python and URLs fix these spellings.
FIXED_SPELLINGS = re.compile(r"is_cancelled|cancelled\(\)|Cancelled(?:Error)?\b|CANCELLED")


@dataclass(frozen=True)
class Place:
    path: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line} {self.text[:140]}"


def tracked_files(*patterns: str) -> list[str]:
    """Return the files that git tracks or would add."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", *patterns]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    names = [name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]
    return [name for name in names if not EXCLUDED.search(name) and "golden" not in name]


def read(path: str) -> str:
    return (ROOT / path).read_text(errors="replace")


def role_names(path: str) -> Iterator[Place]:
    """Yield the variables, parameters and fields whose name is a role in a sentence."""
    for number, line in enumerate(read(path).splitlines(), 1):
        if path.endswith(BRACES):
            code = re.sub(r'//.*|"(?:\\.|[^"\\])*"', "", line)
            matches = list(DECLARED_IN_BRACES.finditer(code))
        else:
            code = re.sub(r'#.*|"(?:\\.|[^"\\])*"', "", line)
            assigned = ASSIGNED_IN_CYTHON.match(code)
            matches = [assigned] if assigned else []
            if FUNCTION_IN_CYTHON.match(code):
                matches += PARAMETER_IN_CYTHON.finditer(code)
        yield from (Place(path, number, match["name"]) for match in matches)


def comments(path: str) -> Iterator[Place]:
    """Yield each block of comment lines and each docstring as one text."""
    text = read(path)
    marker = r"\s*//[/!<]*\s?(.*)" if path.endswith(BRACES) else r"\s*# ?(.*)"
    block, start = "", 0
    for number, line in enumerate([*text.splitlines(), ""], 1):
        if match := re.match(marker, line):
            start = start if block else number
            block += " " + match[1]
        elif block:
            yield Place(path, start, without_licence(block))
            block = ""
    quoted = r"/\*\*?(.*?)\*/" if path.endswith(BRACES) else r'"""(.*?)"""'
    for match in re.finditer(quoted, text, re.DOTALL):
        yield Place(path, text.count("\n", 0, match.start()) + 1, " ".join(match[1].split()))


def without_licence(comment: str) -> str:
    return re.sub(r"^SPDX\S*\s*\S*", "", comment.strip(" *!/")).strip()


def texts(path: str) -> list[Place]:
    return [place for place in comments(path) if len(place.text.split()) >= 3]


def without_subject(path: str) -> Iterator[Place]:
    """Yield the comments and docstrings that open without a subject."""
    return (place for place in texts(path) if NO_SUBJECT.match(place.text))


def comment_sentences(path: str) -> Iterator[Place]:
    for place in texts(path):
        for sentence in re.split(r"(?<=[.;:])\s+", place.text):
            if len(sentence.split()) >= 4:
                yield Place(path, place.line, sentence)


CODE_BLOCK = re.compile(r"^ *\.\. code-block::.*\n(?:[ \t]*\n|   .*\n)*", re.MULTILINE)


def page_sentences(path: str) -> Iterator[Place]:
    text = re.sub(r"```.*?```", "", read(path), flags=re.DOTALL)
    text = CODE_BLOCK.sub("", text)
    for paragraph in re.split(r"\n\s*\n", text):
        if re.match(r"\s*(\.\.|\||=|-|\+)|\s{4,}", paragraph):
            continue  # directives, tables and code
        for sentence in re.split(r"(?<=[.;:?!])\s+", " ".join(paragraph.split())):
            if len(sentence.split()) >= 4:
                yield Place(path, 1, sentence)


def sentences(path: str) -> Iterator[Place]:
    return page_sentences(path) if path.endswith(PAGES) else comment_sentences(path)


def household_verbs(path: str) -> Iterator[Place]:
    """Yield the sentences with a household verb where the field has its own."""
    return (place for place in sentences(path) if HOUSEHOLD_VERB.search(place.text))


def long_sentences(path: str) -> Iterator[Place]:
    """Yield the sentences of pages that have too many words."""
    if path.endswith(PAGES):
        for place in page_sentences(path):
            if len(place.text.split()) > WORDS_IN_A_SENTENCE:
                yield place


@cache
def is_british(word: str) -> bool:
    return BRITISH.search(word) is not None


def british_spellings(path: str) -> Iterator[Place]:
    """Yield words in British spelling, also inside identifiers and messages."""
    text = FIXED_SPELLINGS.sub("", read(path)).replace("_", " ")
    if not any(map(is_british, set(re.findall(r"\w+", text)))):
        return
    for number, line in enumerate(read(path).splitlines(), 1):
        spaced = FIXED_SPELLINGS.sub("", line).replace("_", " ")
        yield from (Place(path, number, match[0]) for match in BRITISH.finditer(spaced))


MEASURES: dict[str, Callable[[str], Iterator[Place]]] = {
    "names": role_names,
    "subjects": without_subject,
    "verbs": household_verbs,
    "long": long_sentences,
    "spelling": british_spellings,
}


def places(measure: str, files: list[str]) -> list[Place]:
    """Return all places that a measure counts in these files."""
    suffixes = BRACES + PYTHON
    if measure in ("verbs", "long", "spelling"):
        suffixes += PAGES
    return [p for path in files if path.endswith(suffixes) for p in MEASURES[measure](path)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("measure", choices=MEASURES)
    parser.add_argument("paths", nargs="*")
    options = parser.parse_args()
    for place in places(options.measure, tracked_files(*options.paths)):
        print(place)


if __name__ == "__main__":
    main()
