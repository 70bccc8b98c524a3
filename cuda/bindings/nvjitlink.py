# SPDX-License-Identifier: Apache-2.0
"""The just-in-time linker of CUDA: links cubins, PTX, LTO-IR, objects and fat binaries.

Functions return their outputs and raise ``nvJitLinkError`` on failure.
Functions are created on first use; classes and enumerations when the first of them is used.
"""

from cuda.bindings._low import fill as _fill

_fill(__name__)
