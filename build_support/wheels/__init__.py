# SPDX-License-Identifier: Apache-2.0
"""Wheels and the sdist as they are released: built, repaired, checked and tried.

``python -m build_support.wheels`` does all of it; each module here is one of its steps.
"""
