# SPDX-License-Identifier: Apache-2.0
# What other parts call when a launch, or a call after it, failed.

# Adds to an error that an earlier launch can have caused which launches there were.
cdef int add_launch_notes(object error, CUresult code) except -1
