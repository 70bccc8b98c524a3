# SPDX-License-Identifier: Apache-2.0
"""Sphinx configuration: `python -m sphinx -W docs build/docs` builds the pages."""

import os
import re
import sys
from pathlib import Path

import cuda.core
from numpydoc.xref import DEFAULT_LINKS

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))  # the reference uses the generator's model
from docs.pages import api_examples, search, site  # noqa: E402
from docs.pages.tables import code_block  # noqa: E402

project = "halfwarp"
copyright = "the halfwarp authors"
release = cuda.core.__implementation__.split()[-1]
extensions = ["sphinx.ext.autodoc", "sphinx.ext.linkcode", "numpydoc", "sphinx_copybutton"]
# Other pages include these.
INCLUDED = ("budget", "counters", "counters_measured", "growth", "measured", "rows")
exclude_patterns = ["design/*", *(f"generated/{name}.rst" for name in INCLUDED)]
html_theme = "furo"
pygments_style, pygments_dark_style = "friendly", "monokai"
html_title = f"halfwarp {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["versions.js", "shortcut.js"]
html_favicon = "_static/favicon.svg"
html_search_scorer = str(HERE / "generated" / "scorer.js")
html_show_search_summary = False  # it would load every page that a search finds
templates_path = ["_templates"]
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "sidebar/versions.html",
        "sidebar/search.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
    ]
}
html_show_sourcelink = False
copybutton_exclude = ".linenos, .gp, .go"
copybutton_prompt_text = "$ "
autodoc_member_order = "groupwise"
autodoc_typehints = "none"  # docstrings describe the parameters
default_role = "any"
numpydoc_show_class_members = False
numpydoc_xref_param_type = True
numpydoc_xref_aliases = {name: name for name in DEFAULT_LINKS}  # of types in other manuals
numpydoc_xref_ignore = {"optional", "or", "of", "with", "a", "to", "up", "method", *DEFAULT_LINKS}
python_maximum_signature_line_length = 88
nitpicky = False
suppress_warnings = ["ref.any"]  # driver functions in "See Also" are documented by NVIDIA

SOURCES, EXAMPLES = site.Sources(), api_examples.all_examples()
# A build in a workflow links to the repository; another build has its own copy of the sources.
repository, commit = os.environ.get("GITHUB_REPOSITORY"), os.environ.get("GITHUB_SHA", "main")
if repository:
    address = f"{os.environ.get('GITHUB_SERVER_URL', 'https://github.com')}/{repository}"
    html_theme_options = {
        "source_repository": f"{address}/",
        "source_branch": os.environ.get("GITHUB_REF_NAME", "main"),
        "source_directory": "docs/",
    }


def linkcode_resolve(domain, info):
    """Return the address of the source of a name, or None."""
    if domain != "py" or not info["module"].startswith("cuda.core"):
        return None
    place = SOURCES.find(info["module"], info["fullname"])
    if place is None:
        return None
    path, line = place
    if repository:
        return f"{address}/blob/{commit}/{path}#L{line}"
    return (
        f"../../{site.SOURCES}/{path}.html#L{line}"  # pages of the reference are two folders deep
    )


def write_pages(app):
    """Write the reference, the gallery and tables; replace a page only if its text changes.

    Remove pages of an earlier build that no longer exist.
    """
    from build_support import headers
    from docs import pages
    from generator import pages as low_layer

    references = low_layer.pages(headers.find()).items()
    texts = {f"bindings/{name}": text for name, text in references}
    texts |= pages.pages() | {"scorer.js": search.scorer()}
    folder = HERE / "generated"
    for path in filter(Path.is_file, folder.rglob("*")):
        if path.relative_to(folder).as_posix() not in texts:
            path.unlink()
    for name, text in texts.items():
        path, content = folder / name, text if isinstance(text, bytes) else text.encode()
        if not path.exists() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


def readable_signature(app, kind, name, thing, options, signature, result):
    """Replace default markers of omitted parameters, such as ``stream=<object object>``."""
    text = re.sub(r"=<object object(?: at 0x[0-9a-f]+)?>", "=...", signature or "")
    return text or signature, result


def add_example(app, kind, name, thing, options, lines):
    """Append the example of a method to its docstring."""
    code = EXAMPLES.get(name)
    if code and kind in ("method", "property"):
        lines += ["", *code_block(code).splitlines()]


def setup(app):
    app.connect("builder-inited", write_pages, priority=0)
    app.connect("autodoc-process-signature", readable_signature, priority=900)
    app.connect("autodoc-process-docstring", add_example, priority=900)
    app.connect("missing-reference", site.find_object, priority=100)
    app.connect("doctree-read", site.add_meta)
    app.connect("doctree-resolved", site.link_code)
    app.connect("doctree-resolved", site.unlink_parameters)
    app.connect("build-finished", site.write_sources)
    app.add_config_value("source_address", repository, "env")
