# SPDX-License-Identifier: Apache-2.0
# LaunchConfig: the shape of a launch.

cdef class LaunchConfig:
    cdef config_fields fields  # what C++ reads, prepared for the driver
    cdef _FurtherAttributes further  # None: none
    cdef object __weakref__

# The LaunchConfig that an argument stands for: one, or a dict of its keywords.
cdef LaunchConfig accept_config(object given)

cdef LaunchConfig copy_config(LaunchConfig config)
