# SPDX-License-Identifier: Apache-2.0
"""Empty: entry points of older editable installations name it; see `halfwarp.pytest_plugin`."""
