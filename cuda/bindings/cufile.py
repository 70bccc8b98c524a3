# SPDX-License-Identifier: Apache-2.0
"""GPUDirect Storage (cuFile): files read into device memory and written from it.

Functions return their outputs and raise ``cuFileError`` when they fail. They are made at import;
classes, enumerations and exceptions when the first of them is used, NumPy types (``..._dtype``)
when they are asked for, which alone imports NumPy.
"""

from cuda.bindings._low import fill as _fill

_fill(__name__)
