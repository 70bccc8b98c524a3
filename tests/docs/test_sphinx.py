# SPDX-License-Identifier: Apache-2.0
"""The documentation builds without a warning; its links lead somewhere; its index is complete."""

import os
import subprocess
import sys
import zlib
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
TOOLS = ("sphinx", "numpydoc", "furo", "sphinx_copybutton")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The pages, built with warnings as errors."""
    for tool in TOOLS:
        pytest.importorskip(tool, reason=f"{tool} is not installed: pip install halfwarp[docs]")
    folder = tmp_path_factory.mktemp("html")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", str(DOCS), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ, timeout=580)
    assert done.returncode == 0, done.stderr
    return folder


class Links(HTMLParser):
    """What a page links to, and the places in it that can be linked to."""

    def __init__(self, path):
        super().__init__()
        self.links, self.anchors = [], set()
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.anchors |= {found[key] for key in ("id", "name") if found.get(key)}
        for key in ("href", "src"):
            if found.get(key):
                self.links.append(found[key])


@pytest.mark.timeout(600)
def test_the_documentation_builds_without_a_warning(built):
    assert (built / "generated" / "bindings" / "driver" / "functions.html").exists()
    assert (built / "generated" / "core" / "streams.html").exists()
    assert (built / "search.html").exists()


@pytest.mark.timeout(600)
def test_no_link_between_pages_is_dead(built):
    paths = [path for path in built.rglob("*.html") if "_static" not in path.parts]
    pages = {path: Links(path) for path in paths}
    assert len(pages) > 60
    assert sorted({wrong for path in pages for wrong in dead_links(path, pages, built)}) == []


def dead_links(path, pages, root):
    for link in pages[path].links:
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        is_page = target in pages
        if not target.exists():
            yield f"{path.relative_to(root)}: {link}"
        elif parts.fragment and is_page and unquote(parts.fragment) not in pages[target].anchors:
            yield f"{path.relative_to(root)}: {link}: no such place"


@pytest.mark.timeout(600)
def test_every_public_member_is_in_the_index(built):
    data = (built / "objects.inv").read_bytes().split(b"\n", 4)[4]
    entries = {line.split(" ", 1)[0] for line in zlib.decompress(data).decode().splitlines()}
    missing = []
    for module in ("", ".graph", ".texture", ".utils", ".system", ".checkpoint"):
        found = import_module(f"cuda.core{module}")
        for name in found.__all__:
            thing = getattr(found, name)
            if isinstance(thing, type):
                full = f"cuda.core{module}.{name}"
                names = [n for n, m in vars(thing).items() if callable(m) and n[0] != "_"]
                missing += [f"{full}.{n}" for n in names if f"{full}.{n}" not in entries]
                missing += [] if full in entries else [full]
    assert missing == []
