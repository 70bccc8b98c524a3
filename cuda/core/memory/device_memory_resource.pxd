# SPDX-License-Identifier: Apache-2.0
# DeviceMemoryResource: device memory from a memory pool of the driver.

cdef class DeviceMemoryResource(_ShareablePool):
    pass
