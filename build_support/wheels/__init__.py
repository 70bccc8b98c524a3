# SPDX-License-Identifier: Apache-2.0
"""Builds, repairs, checks and tests the sdist and wheels of a release.

``python -m build_support.wheels`` runs all steps; each module here is one step.
"""
