# SPDX-License-Identifier: Apache-2.0
"""Memory resources that wrap an upstream resource to count, limit, log or track allocations."""
