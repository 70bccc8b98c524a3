# SPDX-License-Identifier: Apache-2.0
"""Sphinx configuration: `python -m sphinx -W docs build/docs` builds the pages."""

import cuda.core

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
