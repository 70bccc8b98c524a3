# SPDX-License-Identifier: Apache-2.0
"""Sphinx configuration: `python -m sphinx -W docs build/docs` builds the pages."""

import sys
from pathlib import Path

import cuda.core

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))  # the generator's model is what the reference is written from

project = "halfwarp"
copyright = "the halfwarp authors"
release = cuda.core.__implementation__.split()[-1]
extensions = ["sphinx.ext.autodoc", "numpydoc", "sphinx_copybutton"]
INCLUDED = ("budget", "growth", "measured")  # in pages
exclude_patterns = ["design/*", *(f"generated/{name}.rst" for name in INCLUDED)]
html_theme = "furo"
html_title = f"halfwarp {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
copybutton_exclude = ".linenos, .gp, .go"
copybutton_prompt_text = "$ "
autodoc_member_order = "groupwise"
autodoc_typehints = "none"  # the parameters are described in words
default_role = "any"
numpydoc_show_class_members = False
nitpicky = False
suppress_warnings = ["ref.any"]  # driver functions in "See Also" are documented by NVIDIA


def write_pages(app):
    """The reference, the gallery and tables; a page is replaced only when its text changes.

    Those of an earlier build that are none any more go.
    """
    from build_support import headers
    from docs import pages
    from generator import pages as low_layer

    made = low_layer.pages(headers.find()).items()
    texts = {f"bindings/{name}": text for name, text in made}
    texts |= pages.pages()
    folder = HERE / "generated"
    for path in filter(Path.is_file, folder.rglob("*")):
        if path.relative_to(folder).as_posix() not in texts:
            path.unlink()
    for name, text in texts.items():
        path = folder / name
        if not path.exists() or path.read_text("utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")


def setup(app):
    app.connect("builder-inited", write_pages, priority=0)
