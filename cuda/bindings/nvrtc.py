# SPDX-License-Identifier: Apache-2.0
"""NVRTC, the run-time compiler of CUDA C++: functions return the result code, then the outputs.

A function is made when it is first used; all classes, enumerations and constants when the first is.
"""

from cuda.bindings._low import fill as _fill

_fill(__name__)
