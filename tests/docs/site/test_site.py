# SPDX-License-Identifier: Apache-2.0
"""The documentation builds without a warning; its links are valid; its index is complete."""

import enum
import inspect
import re
import zlib
from html.parser import HTMLParser
from importlib import import_module
from urllib.error import HTTPError
from urllib.parse import unquote, urldefrag, urlsplit
from urllib.request import Request, urlopen

import pytest

from docs.pages import core_reference, members

NAMES = core_reference.names()

pytestmark = pytest.mark.slow


class Links(HTMLParser):
    """The links of a page, and its anchors."""

    def __init__(self, path):
        super().__init__()
        self.links, self.anchors = [], set()
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag, attributes):
        attributes_ = dict(attributes)
        self.anchors |= {attributes_[key] for key in ("id", "name") if attributes_.get(key)}
        for key in ("href", "src"):
            if attributes_.get(key):
                self.links.append(attributes_[key])


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
def test_every_public_member_is_on_the_site(built):
    """Each name, method, property and field of what users import, and each parameter."""
    data = (built / "objects.inv").read_bytes().split(b"\n", 4)[4]
    entries = {line.split(" ", 1)[0] for line in zlib.decompress(data).decode().splitlines()}
    pages = [path.read_text("utf-8") for path in (built / "generated" / "core").glob("*.html")]
    text = set(re.findall(r"\w+", " ".join(re.sub(r"<[^>]*>", "", page) for page in pages)))
    missing, count = [], 0
    for module in core_reference.MODULES:
        imported = import_module(f"cuda.core.{module}".rstrip("."))
        for name in imported.__all__:
            thing, full = getattr(imported, name), f"{imported.__name__}.{name}"
            if inspect.ismodule(thing):
                continue
            names = [full]
            if isinstance(thing, type) and not issubclass(thing, BaseException):
                own = filter(lambda n: members.is_public_member(thing, n), dir(thing))
                fields = set(getattr(thing, "__dataclass_fields__", ()))
                names += [NAMES.members[f"{full}.{n}"] for n in own if n not in fields]
                missing += [f"{full}.{n}" for n in fields if n[0] != "_" and n not in text]
            missing += [each for each in names if each not in entries]
            missing += [f"{full}({p})" for p in parameters_of(thing) if p not in text]
            count += len(names)
    assert missing == []
    assert count > 700


def parameters_of(thing):
    if isinstance(thing, enum.EnumMeta):
        return set()
    try:
        return set(inspect.signature(thing).parameters) - {"args", "kwargs", "self"}
    except (ValueError, TypeError):  # not callable, or without a signature
        return set()


@pytest.mark.timeout(600)
def test_no_page_is_heavy_and_a_search_loads_one_index(built):
    sizes = {p.relative_to(built).as_posix(): p.stat().st_size for p in built.rglob("*.html")}
    assert {path: size for path, size in sizes.items() if size > 400_000} == {}
    assert (built / "searchindex.js").stat().st_size < 1_500_000
    options = (built / "_static" / "documentation_options.js").read_text()
    assert "SHOW_SEARCH_SUMMARY: false" in options  # a summary would load each page


@pytest.mark.timeout(600)
def test_names_link_to_their_source_and_types_to_their_class(built):
    page = (built / "generated" / "core" / "memory.html").read_text("utf-8")
    source = r'href="([^"]*/cuda/core/[\w/]+\.pyx(?:\.html)?)#L(\d+)"'
    places = re.findall(source, page)
    assert len(places) > 30
    path, line = places[0]
    if not path.startswith("https:"):  # a build in a workflow links to the repository
        text = (built / "generated" / "core" / path).read_text("utf-8")
        assert f'id="L{line}"' in text
    assert re.search(r'<dt>.*stream.*href="streams\.html#cuda\.core\.Stream"', page)


@pytest.mark.timeout(600)
def test_code_of_the_guide_links_to_the_reference(built):
    pages = [path.read_text("utf-8") for path in (built / "guide").glob("*.html")]
    link = r'href="\.\./generated/(?:core|bindings)/[^"]+"[^>]*><code'
    assert sum(len(re.findall(link, page)) for page in pages) > 250
    graphs = (built / "guide" / "graphs.html").read_text("utf-8")
    example = '"../generated/examples/solver.html"'
    assert re.search(rf"href={example}[^>]*><code[^>]*><span[^>]*>examples/graphs/solver", graphs)


@pytest.mark.timeout(600)
def test_no_name_links_to_another_meaning(built):
    """Names of parameters, and of Python's exceptions, are not links to members of that name."""
    split = (built / "generated" / "core" / "graph.html").read_text("utf-8")
    assert "LaunchRecord.count" not in split
    for path in (built / "guide").glob("*.html"):
        assert "#cuda.core.system.MemoryError" not in path.read_text("utf-8"), path.name


@pytest.mark.timeout(600)
def test_each_page_has_a_description_and_the_site_an_icon(built):
    for path in (built / "guide").glob("*.html"):
        text = path.read_text("utf-8")
        assert re.search(r'<meta content="[^"]{30,}" name="description"', text), path.name
        assert "favicon.svg" in text and "shortcut.js" in text


@pytest.mark.timeout(600)
def test_signatures_show_no_addresses(built):
    for path in (built / "generated" / "core").glob("*.html"):
        signatures = re.findall(r'<dt class="sig.*?</dt>', path.read_text("utf-8"), re.S)
        texts = [re.sub(r"<[^>]*>", "", signature) for signature in signatures]
        assert [t for t in texts if "object object" in t or re.search(r" at 0x\w{6}", t)] == []


@pytest.mark.timeout(600)
def test_names_of_the_driver_link_to_its_functions(built):
    page = (built / "generated" / "core" / "devices.html").read_text("utf-8")
    assert re.search(r'href="[^"]*#cuda\.bindings\.driver\.cuDeviceGetCount"', page)


@pytest.mark.timeout(900)
def test_no_link_to_other_sites_is_dead(built):
    """NVIDIA's manuals and others; skipped without a network."""
    paths = [path for path in built.rglob("*.html") if "_static" not in path.parts]
    links = {urldefrag(link)[0] for path in paths for link in Links(path).links}
    links = sorted(link for link in links if urlsplit(link).scheme in ("http", "https"))
    links = [link for link in links if "/blob/" not in link and "/edit/" not in link]
    assert len(links) > 50
    assert [link for link in links if not link.startswith("https://")] == []
    statuses = {}
    for link in links:
        request = Request(link, method="HEAD", headers={"User-Agent": "halfwarp-tests"})
        try:
            with urlopen(request, timeout=20) as response:
                statuses[link] = response.status
        except HTTPError as error:
            statuses[link] = error.code
        except OSError as error:
            pytest.skip(f"{urlsplit(link).netloc} cannot be reached: {error}")
    assert [link for link, code in statuses.items() if code in (404, 410)] == []
