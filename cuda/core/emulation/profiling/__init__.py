# SPDX-License-Identifier: Apache-2.0
"""Counters of kernels on the emulator, as objects, text and HTML, with advice on slow accesses."""
