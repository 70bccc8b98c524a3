# SPDX-License-Identifier: Apache-2.0
"""The deep learning accelerator (cuDLA); without such a device, every call raises.

Functions return their outputs and raise ``CudlaError`` on failure.
Functions are created on first use; classes, enumerations and exceptions when the first of them is
used. The first use of a NumPy type (``..._dtype``) imports NumPy.
"""

from cuda.bindings._low import fill as _fill

_fill(__name__)
