# SPDX-License-Identifier: Apache-2.0
"""GPUDirect Storage (cuFile): reads files into device memory and writes files from it.

Functions return their outputs and raise ``cuFileError`` on failure.
Functions are created on first use; classes, enumerations and exceptions when the first of them is
used. The first use of a NumPy type (``..._dtype``) imports NumPy.
"""

from cuda.bindings._low import fill as _fill

_fill(__name__)
