# SPDX-License-Identifier: Apache-2.0
"""Private names of the low layer that existing code uses."""
