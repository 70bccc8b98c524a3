# SPDX-License-Identifier: Apache-2.0
"""The CUDA runtime API: every function returns a tuple of the result code and the outputs.

Functions are created on first use; classes, enumerations and constants when the first of them is
used.
"""

from cuda.bindings._low import fill as _fill

_fill(__name__)
