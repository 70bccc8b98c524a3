# SPDX-License-Identifier: Apache-2.0
"""OutOfMemoryError of resources that reach a limit of their own."""

from cuda.core._core import OutOfMemoryError

NAME = "CUDA_ERROR_OUT_OF_MEMORY"


def out_of_memory_error(text, **attributes):
    """Return the error to raise; `attributes` become its attributes."""
    return OutOfMemoryError(f"{NAME}: {text}", code=2, name=NAME, **attributes)
