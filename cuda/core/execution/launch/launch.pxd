# SPDX-License-Identifier: Apache-2.0
# Explanations of refused launches.

# Names the limit of the device that a launch exceeded, in the error of the driver.
cdef int explain_limits(object error, const CUlaunchConfig* config, CUkernel kernel,
                        CUdevice device) except -1
