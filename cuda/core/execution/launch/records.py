# SPDX-License-Identifier: Apache-2.0
"""The named tuple of the flight recorder."""

from collections import namedtuple

LaunchRecord = namedtuple(
    "LaunchRecord",
    ("number", "kernel", "grid", "block", "shmem_size", "stream", "device", "thread", "count"),
)
LaunchRecord.__doc__ = """One launch of the process, or several equal ones in a row.

Its place among all launches, the name of the kernel, blocks and threads in x, y, z, dynamic shared
memory in bytes, the address of the stream, the ordinal of the device, 32 bits of what
`threading.get_ident` gives, and how many launches in a row were equal.
"""
