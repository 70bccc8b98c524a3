# SPDX-License-Identifier: Apache-2.0
# The Device objects of each thread, and the fast path of `Device(...)`.

from libc.limits cimport INT_MAX


cdef extern from "Python.h":
    PyObject* PyThreadState_GetDict()  # borrowed


cdef extern from *:
    """
    namespace halfwarp::core {
    // ThreadDevices of this thread, borrowed from its state dict, which the thread's exit destroys.
    static constinit thread_local PyObject* thread_devices = nullptr;
    }
    """
    PyObject* thread_devices "halfwarp::core::thread_devices"


@cython.final
cdef class ThreadDevices:
    """The Device objects of one thread, owned by the thread's state dict."""

    cdef tuple devices

    def __dealloc__(self):
        global thread_devices
        if thread_devices is <PyObject*>self:
            thread_devices = NULL


cdef Device make_device(int ordinal):
    cdef Device device = Device.__new__(Device)
    device.ordinal = ordinal
    return device


cdef ThreadDevices make_thread_devices():
    """Create the Device objects of the calling thread."""
    global thread_devices
    cdef int count
    initialize_driver()
    call(driver.cuDeviceGetCount, &count)
    cdef ThreadDevices owner = ThreadDevices.__new__(ThreadDevices)
    owner.devices = tuple([make_device(ordinal) for ordinal in range(count)])
    state = <dict>PyThreadState_GetDict()
    state["cuda.core.devices"] = owner
    thread_devices = <PyObject*>owner
    return owner


class _ThreadState:
    """Thread-local state for existing code that reads `_tls.devices`.

    Deleting `devices` discards the thread's Device objects; the next `Device()` creates new ones.
    """

    __slots__ = ()

    @property
    def devices(self):
        if thread_devices is NULL:
            raise AttributeError("this thread has no devices yet: Device() creates them")
        return list((<ThreadDevices>thread_devices).devices)

    @devices.deleter
    def devices(self):
        if thread_devices is NULL:
            raise AttributeError("this thread has no devices yet: Device() creates them")
        del (<dict>PyThreadState_GetDict())["cuda.core.devices"]

    @property
    def __dict__(self):
        return {} if thread_devices is NULL else {"devices": self.devices}


_tls = _ThreadState()


cdef inline tuple devices_of_thread():
    if thread_devices is NULL:
        return make_thread_devices().devices
    return (<ThreadDevices>thread_devices).devices


cdef Device device_of_ordinal(int ordinal):
    devices = devices_of_thread()
    if not 0 <= ordinal < len(devices):
        if ordinal < 0:
            raise ValueError(f"device_id must be >= 0, got {ordinal}")
        raise ValueError(f"device_id must be within [0, {len(devices)}), got {ordinal}")
    return <Device>devices[ordinal]


cdef Device current_device():
    cdef CUdevice ordinal
    devices_of_thread()  # initializes the driver
    cdef CUresult code = try_call(driver.cuCtxGetDevice, &ordinal)
    if code != CUDA_SUCCESS and code != CUDA_ERROR_INVALID_CONTEXT:
        check(code, "cuCtxGetDevice")
    return device_of_ordinal(ordinal if code == CUDA_SUCCESS else 0)


cdef Device as_device(object value):
    if value is None:
        return current_device()
    if isinstance(value, Device):
        return <Device>value
    ordinal = integer_or_none(value)
    if ordinal is None:
        raise TypeError("device_id must be an int, a Device or None, got "
                        f"{qualified_name(value)}")
    if ordinal < 0:
        raise ValueError(f"device_id must be >= 0, got {ordinal}")
    if ordinal > INT_MAX:
        raise ValueError(f"device_id must be within [0, {len(devices_of_thread())}), got {ordinal}")
    return device_of_ordinal(ordinal)


cdef object device_from_arguments(PyObject* cls, PyObject* args, PyObject* kwargs):
    """Implement `Device(...)` with keyword arguments or a wrong number of arguments."""
    positional = list(<tuple>args)
    keywords = dict(<dict>kwargs) if kwargs is not NULL else {}
    if "device_id" in keywords:
        positional.append(keywords.pop("device_id"))
    if len(positional) > 1 or keywords:
        raise TypeError("Device() takes at most one argument, device_id")
    return as_device(positional[0] if positional else None)


cdef object device_vectorcall(PyObject* cls, PyObject* const* args, size_t flags,
                              PyObject* names):
    cdef Py_ssize_t count = PyVectorcall_NARGS(flags)
    if names is NULL and count == 0:
        return current_device()
    if names is NULL and count == 1:
        return as_device(<object>args[0])
    positional = tuple([<object>args[i] for i in range(count)])
    keywords = {}
    if names is not NULL:
        keywords = {name: <object>args[count + i] for i, name in enumerate(<tuple>names)}
    return device_from_arguments(cls, <PyObject*>positional, <PyObject*>keywords)


cdef int install_device_call() except -1:
    """Make `Device(...)` return an existing object instead of creating one."""
    cls = <mutable_type*>Device
    cls.tp_vectorcall = <vectorcallfunc>device_vectorcall
    cls.tp_new = <newfunc>device_from_arguments


install_device_call()
