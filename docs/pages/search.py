# SPDX-License-Identifier: Apache-2.0
"""The order of the results of a search: the page of `search_words.toml` is the first."""

import json
import tomllib
from pathlib import Path

WORDS = Path(__file__).resolve().parents[1] / "search_words.toml"
SCORER = """// Generated from search_words.toml: the page that a search shows first.
const words = {words};
const query = (new URLSearchParams(globalThis.location?.search ?? "").get("q") ?? "").toLowerCase();
var Scorer = {{
  first: (text) => words[text.trim().replace(/\\s+/g, " ")],
  query,
  ofGuide: (page) => (page.startsWith("guide/") ? 20 : 0),
  score: ([page, , , , score]) =>
    score + (Scorer.first(Scorer.query) === page ? 1000 : Scorer.ofGuide(page)),
  objNameMatch: 11, objPartialMatch: 6, objPrio: {{ 0: 15, 1: 5, 2: -5 }}, objPrioDefault: 0,
  title: 15, partialTitle: 7, term: 5, partialTerm: 2,
}};
"""


def search_words():
    """Return search text -> page."""
    table = tomllib.loads(WORDS.read_text("utf-8"))
    return {text: f"guide/{page}" for text, page in table["guide"].items()}


def scorer():
    """Return the program that sorts the results of a search."""
    return SCORER.format(words=json.dumps(search_words(), indent=1))
