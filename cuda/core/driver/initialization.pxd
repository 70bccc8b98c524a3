# SPDX-License-Identifier: Apache-2.0
# Initialization of the driver at the first use.

# Loads the driver and calls cuInit, once per process.
cdef int initialize_driver() except -1
