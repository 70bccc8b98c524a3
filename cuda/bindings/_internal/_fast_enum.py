# SPDX-License-Identifier: Apache-2.0
"""Base class and metaclass of the enumerations, under the names that other packages import."""

from cuda.bindings._low import FastEnum, FastEnumMetaclass

__all__ = ["FastEnum", "FastEnumMetaclass"]
