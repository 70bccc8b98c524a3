# SPDX-License-Identifier: Apache-2.0
"""Named tuples that the classes of this folder return."""

from collections import namedtuple

ComputeCapability = namedtuple("ComputeCapability", ("major", "minor"))
ComputeCapability.__doc__ = "The compute capability of a device: compares as a plain tuple."

MemoryInfo = namedtuple("MemoryInfo", ("free", "total"))
MemoryInfo.__doc__ = "Free and total memory of a device, in bytes."

for _record in (ComputeCapability, MemoryInfo):
    _record.__module__ = "cuda.core.execution.records"
del _record
