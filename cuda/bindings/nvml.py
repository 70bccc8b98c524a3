# SPDX-License-Identifier: Apache-2.0
"""The management library of the driver (NVML): what GPUs there are, and how they fare.

Functions return their outputs and raise ``NvmlError`` or the subclass of the status when they fail.
They are made at import; classes, enumerations and exceptions when the first of them is used, NumPy
types (``..._dtype``) when they are asked for, which alone imports NumPy.
"""

from cuda.bindings._low import fill as _fill

_fill(__name__)
