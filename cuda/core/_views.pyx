# SPDX-License-Identifier: Apache-2.0
"""The extension behind `StridedMemoryView`: arrays of all libraries, and their layouts."""

cimport cython

from cuda.core._core import _complete_classes

include "views/layout.pyx"

_complete_classes(globals(), __name__)
