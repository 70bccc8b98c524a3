# SPDX-License-Identifier: Apache-2.0
"""The fat binary creator: combines device code for several architectures in one file.

Functions return their outputs and raise ``nvFatbinError`` on failure.
Functions are created on first use; classes and enumerations when the first of them is used.
"""

from cuda.bindings._low import fill as _fill

_fill(__name__)
