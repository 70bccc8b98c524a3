# SPDX-License-Identifier: Apache-2.0
"""Fills device memory from compiled code."""

from fastfill._fill import fill

__all__ = ["fill"]
