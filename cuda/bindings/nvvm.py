# SPDX-License-Identifier: Apache-2.0
"""libNVVM, the compiler of NVVM IR: compiles LLVM modules to PTX.

Functions return their outputs and raise ``nvvmError`` on failure.
Functions are created on first use; classes and enumerations when the first of them is used.
"""

from cuda.bindings._low import fill as _fill

_fill(__name__)
