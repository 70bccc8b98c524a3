# SPDX-License-Identifier: Apache-2.0
"""NVRTC, the run-time compiler of CUDA C++: functions return a tuple of result code and outputs.

Functions are created on first use; classes, enumerations and constants when the first of them is
used.
"""

from cuda.bindings._low import fill as _fill

_fill(__name__)
