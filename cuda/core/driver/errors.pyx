# SPDX-License-Identifier: Apache-2.0
# Exceptions for what the driver answers: their classes, their text, and how they are raised.


class CUDAError(Exception):
    """A driver or runtime function failed.

    The text is the name of the error, what it means and what to do, and the function that
    answered it.

    Attributes
    ----------
    code : int or None
        The number of the error, as in ``CUresult``.
    name : str or None
        The name of the error, for instance ``"CUDA_ERROR_INVALID_VALUE"``.
    where : str or None
        The driver function that failed, for instance ``"cuStreamCreateWithPriority"``.
    """

    def __init__(self, *args, code=None, name=None, where=None):
        super().__init__(*args)
        self.code = code
        self.name = name
        self.where = where


class NVRTCError(CUDAError):
    """A function of the runtime compiler failed; the text holds the compilation log, if any."""


class OutOfMemoryError(CUDAError, MemoryError):
    """There is not enough memory on the device, or a limit was reached.

    Attributes
    ----------
    requested, used, reserved, peak, limit, largest_free_block : int or None
        In bytes; None where it is not known.
    device_free, device_total : int or None
        In bytes, as the driver reports them for the whole device.
    device_id : int or None
        The ordinal of the device.
    largest_allocations : list
        The largest live allocations, when they are tracked.
    """

    def __init__(self, *args, code=None, name=None, where=None, requested=None, device_id=None,
                 used=None, reserved=None, peak=None, limit=None, largest_free_block=None,
                 device_free=None, device_total=None, largest_allocations=()):
        super().__init__(*args, code=code, name=name, where=where)
        self.requested = requested
        self.device_id = device_id
        self.used = used
        self.reserved = reserved
        self.peak = peak
        self.limit = limit
        self.largest_free_block = largest_free_block
        self.device_free = device_free
        self.device_total = device_total
        self.largest_allocations = list(largest_allocations)


class CUDAWarning(RuntimeWarning):
    """A driver object could not be destroyed: nothing waits for that, so that nothing can raise.

    Given by the main thread; a line on standard error says the same where no warning can be given.
    """


# Where users find them; pickling looks there as well.
for _class in (CUDAError, CUDAWarning, NVRTCError, OutOfMemoryError):
    _class.__module__ = "cuda.core"
del _class


cdef object enum_member(str module, str enum, int code):
    """The low layer's member for a status; None for a number that it does not have."""
    try:
        return getattr(import_module(module), enum)(code)
    except (ImportError, ValueError):  # a half-removed package must not hide the error at hand
        return None


cdef tuple driver_texts(CUresult code):
    """Name and explanation of a status: of the headers, else of the driver; None where there is
    none.
    """
    cdef const char* name = NULL
    cdef const char* text = NULL
    if is_finalizing():
        return None, None
    member = enum_member("cuda.bindings.driver", "CUresult", code)
    if member is not None:  # also where the driver is older than the number
        return member.name, member.__doc__
    if loader.backend() is NULL:  # there is no driver to ask
        return None, None
    if try_call(driver.cuGetErrorName, code, &name) != CUDA_SUCCESS or name is NULL:
        return None, None
    if try_call(driver.cuGetErrorString, code, &text) != CUDA_SUCCESS or text is NULL:
        return name.decode("ascii"), None
    return name.decode("ascii"), text.decode("utf-8", "backslashreplace")


cdef str emulated_suffix(CUresult code):
    """What the emulator knows beyond the code, and its mark."""
    cdef const char* backend = loader.backend()
    if backend is NULL or backend != b"emulator":
        return ""
    try:
        known = import_module("cuda.core.emulation").error_text(<int>code)
    except ImportError:  # as above
        known = ""
    return f"\n{known} [emulated]" if known else " [emulated]"


cdef object driver_error(CUresult code, const char* function):
    name, why = driver_texts(code)
    emulated = emulated_suffix(code)
    where = function.decode() if function is not NULL else None
    text = name if name else f"UNEXPECTED ERROR CODE: {<int>code}"
    if why:
        # What finds the place of a fault needs no advice when that is what found it.
        text += f": {why.partition(' The emulator (')[0] if emulated else why}"
    text += emulated
    if where:
        text += f" [{where}]"
    cls = OutOfMemoryError if code == CUDA_ERROR_OUT_OF_MEMORY else CUDAError
    error = cls(text, code=<int>code, name=name, where=where)
    add_launch_notes(error, code)
    note_driver_log(error, text)
    record_capture_error(error, code)
    return error


cdef int extend_error(object error, str more) except -1:
    """Say more in the text of an error, before the function that ends it."""
    end = f" [{error.where}]" if error.where else ""
    error.args = (f"{str(error).removesuffix(end)}{more}{end}",)
    return 0


def make_driver_error(int code, bytes function=None):
    """The exception for a status that the low layer returned. Host only."""
    cdef const char* name = NULL
    if function is not None:
        name = function
    return driver_error(<CUresult>code, name)


cdef int raise_driver_error(CUresult code, const char* function) except -1:
    if PyErr_Occurred() is not NULL:
        return -1
    raise driver_error(code, function)


cdef int check_status(CUresult code) except? -1 nogil:
    return check(code, NULL)


cdef object nvrtc_error(int code, const char* function, str log):
    member = enum_member("cuda.bindings.nvrtc", "nvrtcResult", code)
    name = member.name if member is not None else None
    where = function.decode() if function is not NULL else None
    text = f"{code}: {name or 'UNEXPECTED ERROR CODE'}"
    if where:
        text += f" [{where}]"
    if log:
        text += f"\ncompilation log:\n\n{log}"
    return NVRTCError(text, code=code, name=name, where=where)


def make_nvrtc_error(int code, str log=None):
    """The exception for a status of NVRTC that the low layer returned. Host only."""
    return nvrtc_error(code, NULL, log)


cdef int raise_closed(str class_name) except -1:
    raise RuntimeError(f"{class_name} has been closed")


cdef int warn_deprecated(str old, str new) except -1:
    # Compiled code has no frame of its own: level 1 is the caller's line.
    return PyErr_WarnEx(DeprecationWarning, f"{old} is deprecated: use {new}".encode(), 1)


def _set_error_hook():
    """Let C++ raise what is defined here, and warn of clean-up that fails."""
    global raise_driver_error_in_cpp
    raise_driver_error_in_cpp = raise_driver_error
    set_cleanup_warning(CUDAWarning)


_set_error_hook()
