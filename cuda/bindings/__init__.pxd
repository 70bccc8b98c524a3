# SPDX-License-Identifier: Apache-2.0
"""Nothing to cimport here: each module declares its own."""
