# SPDX-License-Identifier: Apache-2.0
"""The CUDA driver API, Pythonic: functions return their outputs and raise on failure.

Handles, addresses and enumerators are ints. The name of the package is provisional.
"""

from cuda.bindings._low import fill as _fill

_fill(__name__)
