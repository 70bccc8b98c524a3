# SPDX-License-Identifier: Apache-2.0
"""Sphinx configuration: `python -m sphinx -W docs build/docs` builds the pages."""

import re
import sys
from pathlib import Path

import cuda.core
from sphinx.util.nodes import make_refnode

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))  # the reference uses the generator's model

project = "halfwarp"
copyright = "the halfwarp authors"
release = cuda.core.__implementation__.split()[-1]
extensions = ["sphinx.ext.autodoc", "numpydoc", "sphinx_copybutton"]
# Prefixes of C names in docstrings, and their modules in the low layer.
PREFIXES = {"cuda": "runtime", "cu": "driver", "nvrtc": "nvrtc"}
INCLUDED = ("budget", "counters", "growth", "measured", "rows")  # other pages include these
exclude_patterns = ["design/*", *(f"generated/{name}.rst" for name in INCLUDED)]
html_theme = "furo"
pygments_style, pygments_dark_style = "friendly", "monokai"
html_title = f"halfwarp {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["versions.js"]
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
nitpicky = False
suppress_warnings = ["ref.any"]  # driver functions in "See Also" are documented by NVIDIA


def write_pages(app):
    """Write the reference, the gallery and tables; replace a page only if its text changes.

    Remove pages of an earlier build that no longer exist.
    """
    from build_support import headers
    from docs import pages
    from generator import pages as low_layer

    references = low_layer.pages(headers.find()).items()
    texts = {f"bindings/{name}": text for name, text in references}
    texts |= pages.pages()
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


def low_layer_reference(app, environment, node, contnode):
    """Link a C name such as `cuMemAllocAsync` in a docstring to the low layer's function."""
    target = node.get("reftarget", "")
    domain = environment.get_domain("py")
    for prefix, module in PREFIXES.items():
        full = f"cuda.bindings.{module}.{target}"
        if target.startswith(prefix) and full in domain.objects:
            page, anchor = domain.objects[full].docname, domain.objects[full].node_id
            return make_refnode(app.builder, node["refdoc"], page, anchor, contnode, full)
    return None


def setup(app):
    app.connect("builder-inited", write_pages, priority=0)
    app.connect("autodoc-process-signature", readable_signature, priority=900)
    app.connect("missing-reference", low_layer_reference, priority=100)
