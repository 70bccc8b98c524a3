# SPDX-License-Identifier: Apache-2.0
"""The maker of fat binaries: device code for several architectures in one file.

Functions return their outputs and raise ``nvFatbinError`` when they fail. They are made at import;
classes and enumerations when the first of them is used.
"""

from cuda.bindings._low import fill as _fill

_fill(__name__)
