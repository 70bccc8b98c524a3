# SPDX-License-Identifier: Apache-2.0
# `with device:` makes a device current, and its end restores the context before it.


@cython.final
cdef class _DeviceScope:
    """State that the end of a block restores."""

    cdef Device device
    cdef context_handle previous      # current before the block; null: none
    cdef context_handle of_device     # Device.context before the block; null: none
    cdef Context wrapper


cdef list scopes_of_thread():
    """Return the open blocks of the calling thread, outermost first."""
    state = <dict>PyThreadState_GetDict()
    return state.setdefault("cuda.core.device_scopes", [])


cdef int enter_device(Device device) except -1:
    cdef _DeviceScope scope = _DeviceScope.__new__(_DeviceScope)
    cdef list scopes = scopes_of_thread()
    scope.device = device
    scope.previous = current_context()
    with cython.critical_section(device):
        scope.of_device = device.native
        scope.wrapper = device.current_wrapper
    scopes.append(scope)
    try:
        device.set_current()
    except BaseException:
        scopes.remove(scope)
        raise


cdef _DeviceScope close_scope(Device device):
    """Remove the innermost block of a device; return None if it encloses another open block.

    A generator or a task can leave a block that encloses an open one. The inner block stays
    current, and its end then restores the context before the outer block.
    """
    cdef list scopes = scopes_of_thread()
    cdef Py_ssize_t position = len(scopes) - 1
    cdef _DeviceScope scope
    while position >= 0 and (<_DeviceScope>scopes[position]).device is not device:
        position -= 1
    if position < 0:
        raise RuntimeError(f"a block `with Device({device.ordinal})` ends on a thread on which "
                           "none began: leave the block on the thread that entered it")
    scope = <_DeviceScope>scopes.pop(position)
    if position == len(scopes):
        return scope
    (<_DeviceScope>scopes[position]).previous = scope.previous
    return None


cdef int restore_context(const context_ref& previous) except -1:
    """Make a context current again; null makes none current."""
    if (previous.is_open() and previous.is_owned() and not previous.facts().is_green()
            and is_destroyed(previous)):
        device_of_ordinal(previous.facts().device).set_current()  # after a reset of the device
        return 0
    cdef CUresult code = try_call(driver.cuCtxSetCurrent, previous.raw())
    if code != CUDA_SUCCESS:
        error = driver_error(code, "cuCtxSetCurrent")
        error.add_note("the context that was current before a block `with Device(...)` cannot be "
                       "restored: the block, or code that it called, destroyed the context")
        raise error


cdef int leave_device(Device device) except -1:
    cdef _DeviceScope scope = close_scope(device)
    if scope is None:
        return 0
    with cython.critical_section(device):
        if scope.of_device.is_open():
            device.native = scope.of_device
            device.current_wrapper = scope.wrapper
        elif device.native.raw() is not device.primary.raw():
            device.native = device.primary
            device.current_wrapper = None
    return restore_context(scope.previous)
