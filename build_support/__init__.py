# SPDX-License-Identifier: Apache-2.0
"""Build steps of setup.py, which run only if something changed, and the CUDA headers."""
