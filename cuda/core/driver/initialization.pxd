# SPDX-License-Identifier: Apache-2.0
# Initialization of the driver at the first use.

# Loads the driver and calls cuInit, once per process.
cdef int initialize_driver() except -1

# Returns the CUDA version of the driver, for instance 13050 for 13.5.
cdef int driver_version() except -1
