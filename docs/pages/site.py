# SPDX-License-Identifier: Apache-2.0
"""Parts of the site that Sphinx and its theme do not have.

Links from code names in the guide, links to sources, a description of each page, search words.
"""

import inspect
import re
from html import escape
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.util.nodes import make_refnode

from . import core_reference
from .members import home_of, is_named_by_chance
from .search import search_words

ROOT = Path(__file__).resolve().parents[2]
SOURCE_PAGE = """<!doctype html><meta charset="utf-8"><title>{path}</title>
<style>pre {{ font-size: 13px; overflow: auto }} a {{ color: #888 }}
a:target {{ background: #fd6 }}</style>
<h1>{path}</h1><pre>{text}</pre>
"""
SOURCES = "source"  # folder of the site with the sources as pages
# Prefixes of C names, and their modules in the low layer.
PREFIXES = {"cuda": "runtime", "cu": "driver", "nvrtc": "nvrtc", "nvJitLink": "nvjitlink"}


def add_meta(app, doctree):
    """Add a description, and the words by which a search should find a page."""
    page = app.env.docname
    words = [text for text, target in search_words().items() if target == page]
    if words:
        single = dict.fromkeys(word for text in words for word in text.split())
        doctree += nodes.meta(name="keywords", content=", ".join(single))
    paragraphs = doctree.findall(nodes.paragraph)
    first = next((p for p in paragraphs if isinstance(p.parent, nodes.section)), None)
    if first is not None and not page.startswith("generated/"):
        text = " ".join(first.astext().split())
        text = text if len(text) <= 160 else text[:160].rpartition(" ")[0] + " ..."
        doctree += nodes.meta(name="description", content=text)


def link_code(app, doctree, page):
    """Turn code names of the guide into links to the reference and to the pages of examples."""
    if not page.startswith(("guide/", "index")):
        return
    names, objects = core_reference.names(), app.env.get_domain("py").objects
    for literal in list(doctree.findall(nodes.literal)):
        if not isinstance(literal.parent, nodes.reference | nodes.title):
            reference = link_of(app, names, objects, page, literal)
            if reference is not None:
                literal.replace_self(reference)


def link_of(app, names, objects, page, literal):
    """Return a link around inline code that means a name, or None."""
    text = literal.astext()
    if variable := re.match(r"HALFWARP_[A-Z_]+", text):
        target = "guide/environment"
        if target == page:
            return None
        return make_refnode(app.builder, page, target, None, literal.deepcopy(), variable[0])
    if example := re.fullmatch(r"examples/(?:\w+/)*(\w+)\.py", text):
        target = f"generated/examples/{example[1]}"
        if target in app.env.found_docs:
            return make_refnode(app.builder, page, target, None, literal.deepcopy(), text)
    full_name = names.find(text)
    if full_name is None and re.fullmatch(r"(cu|nvrtc|nvJitLink)\w+(\(.*\))?", text):
        full_name = low_name(text.partition("(")[0], objects)
    entry = objects.get(full_name)
    if entry is None:
        return None
    return make_refnode(
        app.builder, page, entry.docname, entry.node_id, literal.deepcopy(), full_name
    )


def unlink_parameters(app, doctree, page):
    """Remove the links of bare names in docstrings that lead to another class by chance."""
    if not page.startswith("generated/core/"):
        return
    objects = app.env.get_domain("py").objects
    for description in list(doctree.findall(addnodes.desc)):
        heads = description.children[0].get("ids") if description.children else None
        for reference in list(description.findall(nodes.reference)) if heads else ():
            entry = objects.get(target := reference.get("reftitle"))
            if entry is None or not reference.astext().isidentifier():
                continue
            if is_named_by_chance(heads[0], target, entry.objtype):
                reference.replace_self(reference.children)


def low_name(name, objects):
    """Return the full name of a C name in the low layer, or None."""
    for prefix, module in PREFIXES.items():
        full_name = f"cuda.bindings.{module}.{name}"
        if name.startswith(prefix) and full_name in objects:
            return full_name
    return None


def find_object(app, environment, node, content):
    """Link a C name, or a name of another module of `cuda.core`, in a docstring."""
    target, objects = node.get("reftarget", ""), environment.get_domain("py").objects
    full_name = low_name(target, objects)
    if full_name is None and node.get("refdomain") in ("py", "", None):
        full_name = core_reference.names().find(target)
        full_name = full_name if full_name in objects else None
    if full_name is None:
        return None
    entry = objects[full_name]
    return make_refnode(
        app.builder, node["refdoc"], entry.docname, entry.node_id, content, full_name
    )


class Sources:
    """The lines of `cuda/core` at which classes, functions and members begin."""

    HEAD = re.compile(r"^(?:cdef )?class (\w+)|^( *)(?:async )?def (\w+)\(")

    def __init__(self):
        self.lines = {}
        folder = ROOT / "cuda" / "core"
        for path in sorted([*folder.rglob("*.pyx"), *folder.rglob("*.py")]):
            owner = ""
            for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
                if match := self.HEAD.match(line):
                    owner = match[1] or (owner if match[2] else "")
                    name = match[1] or f"{owner}.{match[3]}".lstrip(".")
                    self.lines.setdefault(name, (path.relative_to(ROOT).as_posix(), number))

    def find(self, module, name):
        """Return (path, line) of a name of a module; None if it has no line."""
        owner, _, member = name.rpartition(".")
        cls = getattr(inspect.importlib.import_module(module), owner, None) if owner else None
        if isinstance(cls, type):
            home = home_of(cls, member)
            owner = home.__name__ if home else owner
        return self.lines.get(f"{owner}.{member}".lstrip("."))


def write_sources(app, error):
    """Write each source that the reference links to as a page with a place for each line."""
    if error is not None or app.builder.name != "html" or app.config.source_address:
        return
    for path in {path for path, _ in Sources().lines.values()}:
        lines = (ROOT / path).read_text("utf-8").splitlines()
        text = "".join(f'<a id="L{n}">{n:5}</a> {escape(s)}\n' for n, s in enumerate(lines, 1))
        target = Path(app.outdir) / SOURCES / f"{path}.html"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(SOURCE_PAGE.format(path=path, text=text), "utf-8")
