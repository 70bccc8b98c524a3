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
extensions = ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc"]
exclude_patterns = ["design/*", "news/*"]
html_theme = "alabaster"
default_role = "any"
numpydoc_show_class_members = False
nitpicky = False
suppress_warnings = ["ref.any"]  # driver functions in "See Also" are documented by NVIDIA


def write_reference(app):
    """Pages of every module of the low layer; a page is replaced only when its text changes."""
    from generator import pages

    for name, text in pages.pages().items():
        path = HERE / "generated" / "bindings" / name
        if not path.exists() or path.read_text("utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")


def setup(app):
    app.connect("builder-inited", write_reference, priority=0)
