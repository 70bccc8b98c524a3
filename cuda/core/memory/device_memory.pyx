# SPDX-License-Identifier: Apache-2.0
# What Device needs of memory: its default resource, and allocation before set_current().


cdef object default_memory_resource(Device device):
    if device.properties.memory_pools_supported:
        return DeviceMemoryResource(device)
    return _SynchronousMemoryResource(device)


cdef object allocate_on_default_stream(Device device, object size):
    """Allocate with the primary context current, whatever was current before."""
    cdef context_handle before = current_context()
    device.set_current()
    try:
        # Not returned from here: what is returned would leak if the restoring fails.
        buffer = device.memory_resource.allocate(size, stream=default_stream_object())
    finally:
        if before.is_open():
            call(driver.cuCtxSetCurrent, before.raw())
    return buffer
