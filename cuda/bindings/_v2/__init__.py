# SPDX-License-Identifier: Apache-2.0
"""The low layer in Python's ways, under a provisional name: values come back, failures raise."""
