# SPDX-License-Identifier: Apache-2.0
"""The deep learning accelerator (cuDLA) of systems that have one; elsewhere every call raises.

Functions return their outputs and raise ``CudlaError`` when they fail. They are made at import;
classes, enumerations and exceptions when the first of them is used, NumPy types (``..._dtype``)
when they are asked for, which alone imports NumPy.
"""

from cuda.bindings._low import fill as _fill

_fill(__name__)
