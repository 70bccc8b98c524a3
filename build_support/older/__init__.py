# SPDX-License-Identifier: Apache-2.0
"""Wheels for systems older than the one that builds them, with its own compiler.

`libraries` writes what to link with; `missing.c` and `missing.cpp` are what the older system lacks.
"""
