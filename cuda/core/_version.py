# SPDX-License-Identifier: Apache-2.0
"""The versions of the distribution and of the API level it provides."""

__version__ = "0.1.0"
