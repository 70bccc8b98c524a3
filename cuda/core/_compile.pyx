# SPDX-License-Identifier: Apache-2.0
"""The extension behind `Program`: from source text to object code."""

cimport cython

from cuda.core._core cimport (
    as_options,
    check_open,
    declarations_of,
    enter_gate,
    leave_gate,
    make_object_code,
    nvrtc_error,
    public_object,
)

from cuda.core._core import _complete_classes

include "compile/nvrtc_program.pyx"
include "compile/versions.pyx"
include "compile/compiler.pyx"
include "compile/nvrtc_compiler.pyx"
include "compile/program.pyx"

_complete_classes(globals(), __name__)
