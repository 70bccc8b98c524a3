# SPDX-License-Identifier: Apache-2.0
"""The named tuple of the flight recorder."""

from collections import namedtuple

LaunchRecord = namedtuple(
    "LaunchRecord",
    ("number", "kernel", "grid", "block", "shmem_size", "stream", "device", "thread", "count"),
)
LaunchRecord.__doc__ = """A launch of the process, or several consecutive equal launches.

Fields: sequence number of the launch, name of the kernel, blocks and threads in x, y, z, dynamic
shared memory in bytes, address of the stream, ordinal of the device, lower 32 bits of
`threading.get_ident`, and number of consecutive equal launches.
"""
