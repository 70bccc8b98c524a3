# SPDX-License-Identifier: Apache-2.0
"""Wheels for systems older than the build system, with its own compiler.

`libraries` writes libraries to link with; `missing.c` and `missing.cpp` define functions that the
older system lacks.
"""
