# SPDX-License-Identifier: Apache-2.0
# LaunchConfig: the shape of a launch.

cdef class LaunchConfig:
    cdef config_fields fields  # read by C++, in the driver's format
    cdef _FurtherAttributes further  # None: no further attributes
    cdef object __weakref__

# Converts an argument to a LaunchConfig: a LaunchConfig, or a dict of its keywords.
cdef LaunchConfig accept_config(object value, str order=*)

cdef LaunchConfig copy_config(LaunchConfig config)
