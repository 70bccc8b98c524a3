# SPDX-License-Identifier: Apache-2.0
"""The CUDA runtime API: functions return the result code, then the outputs.

Functions are made at import; classes, enumerations and constants when the first of them is used.
"""

from cuda.bindings._low import fill as _fill

_fill(__name__)
