# SPDX-License-Identifier: Apache-2.0
"""The CUDA runtime API, Pythonic: functions return their outputs and raise on failure.

Handles, addresses and enumerators are ints. The name of the package is provisional; the reference
has no such module yet.
"""

from cuda.bindings._low import fill as _fill

_fill(__name__)
