# SPDX-License-Identifier: Apache-2.0
"""The error of resources that run out of memory by a limit of their own, as if the driver did."""

from cuda.core._core import OutOfMemoryError

NAME = "CUDA_ERROR_OUT_OF_MEMORY"


def out_of_memory_error(text, **known):
    """The error to raise; `known` are figures that it has as attributes."""
    return OutOfMemoryError(f"{NAME}: {text}", code=2, name=NAME, **known)
