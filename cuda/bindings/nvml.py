# SPDX-License-Identifier: Apache-2.0
"""The NVIDIA Management Library (NVML): the GPUs of a machine and their state.

Functions return their outputs and raise ``NvmlError``, or the subclass of the status, on failure.
Functions are created on first use; classes, enumerations and exceptions when the first of them is
used. The first use of a NumPy type (``..._dtype``) imports NumPy.
"""

from cuda.bindings._low import fill as _fill

_fill(__name__)
