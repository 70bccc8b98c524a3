# SPDX-License-Identifier: Apache-2.0
"""The CUDA runtime API in Python's ways: functions return their outputs and raise where they fail.

Handles, addresses and enumerators are ints. The package's name is provisional; the reference has no
such module yet.
"""

from cuda.bindings._low import fill as _fill

_fill(__name__)
