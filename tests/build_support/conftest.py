# SPDX-License-Identifier: Apache-2.0
"""The compiler of the generator's tests."""

from ..generator.conftest import compile_only

__all__ = ["compile_only"]
