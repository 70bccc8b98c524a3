# SPDX-License-Identifier: Apache-2.0
"""Device types of DLPack that cuda.core supports."""

from enum import IntEnum


class DLDeviceType(IntEnum):
    """Device type, the first element of `__dlpack_device__()`."""

    kDLCPU = 1
    kDLCUDA = 2
    kDLCUDAHost = 3
    kDLCUDAManaged = 13
