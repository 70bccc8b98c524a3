# SPDX-License-Identifier: Apache-2.0
"""Base class and metaclass of the enumerations, under the names that other packages import."""

from cuda.bindings._low import fast_enum

__all__ = ["FastEnum", "FastEnumMetaclass"]

FastEnum, FastEnumMetaclass = fast_enum()
