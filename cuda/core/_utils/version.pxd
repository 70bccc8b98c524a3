# SPDX-License-Identifier: Apache-2.0
# Versions as tuples of three numbers, for Cython code.


cdef inline tuple cy_binding_version():
    from cuda.core._utils.version import binding_version
    return binding_version()


# Raises RuntimeError without a driver.
cdef inline tuple cy_driver_version():
    from cuda.core._utils.version import driver_version
    return driver_version()
