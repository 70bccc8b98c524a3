# SPDX-License-Identifier: Apache-2.0
# Notes on errors that earlier launches may have caused.

# Adds the recent launches to an error that an earlier launch may have caused.
cdef int add_launch_notes(object error, CUresult code) except -1

# Names the limit of the device that a launch exceeded, in the error of the driver.
cdef int explain_limits(object error, const CUlaunchConfig* config, CUkernel kernel,
                        CUdevice device) except -1
