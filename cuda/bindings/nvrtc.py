# SPDX-License-Identifier: Apache-2.0
"""NVRTC, the run-time compiler of CUDA C++: every function returns a tuple of the result code and the outputs."""

from cuda.bindings._low import fill as _fill

_fill(__name__)
