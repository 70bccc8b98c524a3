# SPDX-License-Identifier: Apache-2.0
"""Names of parameters that are equal in each process, as pytest-xdist requires."""

import ctypes


def readable(value):
    """Return the representation of a parameter, or its class if that contains an address."""
    shown = repr(value)
    has_address = " at 0x" in shown or isinstance(value, ctypes.c_char_p)
    return f"a {type(value).__name__}" if has_address else shown
