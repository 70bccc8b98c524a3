# SPDX-License-Identifier: Apache-2.0
"""The named tuple of the flight recorder."""

from collections import namedtuple

LaunchRecord = namedtuple(
    "LaunchRecord",
    ("number", "kernel", "grid", "block", "shmem_size", "stream", "device", "thread", "count"),
)
LaunchRecord.__doc__ = "One launch of the process, or several equal ones in a row."
