# SPDX-License-Identifier: Apache-2.0
"""Memory resources around another one: they count, limit, log or track what it gives out."""
