# SPDX-License-Identifier: Apache-2.0
"""The kinds of devices that DLPack numbers, as far as they are known here."""

from enum import IntEnum


class DLDeviceType(IntEnum):
    """What `__dlpack_device__` begins with."""

    kDLCPU = 1
    kDLCUDA = 2
    kDLCUDAHost = 3
    kDLCUDAManaged = 13
