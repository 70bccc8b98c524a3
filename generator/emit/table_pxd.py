# SPDX-License-Identifier: Apache-2.0
"""Declares the slots of the driver's function table for the Cython sources of `cuda.core`."""

from __future__ import annotations

from ..model import Library

TEXT = """\
# {origin}

cdef extern from "driver/call.hpp" namespace "halfwarp::driver" nogil:
    # A slot of the table, under its C name. What is called through it is checked by C++.
    ctypedef const void* driver_function
    cppclass driver_table:
{slots}
    const driver_table* driver "halfwarp::driver::table"
"""


def emit(libraries: dict[str, Library]) -> dict[str, str]:
    """Text of each generated file, by path below the root."""
    driver = libraries["driver"]
    slots = "\n".join(f"        driver_function {f.name}" for f in driver.functions)
    return {"cuda/core/_driver_table.pxd": TEXT.format(origin=driver.origin, slots=slots)}
