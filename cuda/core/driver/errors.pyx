# SPDX-License-Identifier: Apache-2.0
# Exceptions for status codes of the driver: classes, messages and raising.

from cuda.bindings.cydriver cimport (
    CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
    CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
)

cdef object invalidating_call = None  # text about the call that invalidated the last capture


class CUDAError(Exception):
    """A driver or runtime function failed.

    The message has the name of the error, its explanation with advice, and the function that
    returned it.

    Attributes
    ----------
    code : int or None
        Number of the error, as in ``CUresult``.
    name : str or None
        Name of the error, for instance ``"CUDA_ERROR_INVALID_VALUE"``.
    where : str or None
        Driver function that failed, for instance ``"cuStreamCreateWithPriority"``.
    """

    def __init__(self, *args, code=None, name=None, where=None):
        super().__init__(*args)
        self.code = code
        self.name = name
        self.where = where


class NVRTCError(CUDAError):
    """A function of NVRTC failed; the message includes the compilation log, if any."""


class OutOfMemoryError(CUDAError, MemoryError):
    """The device does not have enough memory, or a limit was reached.

    Attributes
    ----------
    requested, used, reserved, peak, limit, largest_free_block : int or None
        Sizes in bytes; None if unknown.
    device_free, device_total : int or None
        Free and total memory of the whole device in bytes, as reported by the driver.
    device_id : int or None
        Ordinal of the device.
    largest_allocations : list
        Largest live allocations, if they are tracked.
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
    """A driver object could not be destroyed, at a point where no exception can be raised.

    The main thread gives the warning. If no warning can be given, a line on standard error reports
    the failure.
    """


# The public module of these classes, which pickling uses too.
for _class in (CUDAError, CUDAWarning, NVRTCError, OutOfMemoryError):
    _class.__module__ = "cuda.core"
del _class


cdef object enum_member(str module, str enum, int code):
    try:
        return getattr(import_module(module), enum)(code)
    except (ImportError, ValueError):  # a partly removed package must not hide the actual error
        return None


cdef tuple driver_texts(CUresult code):
    """Return name and explanation of a status from the headers, else the driver, or None."""
    cdef const char* name = NULL
    cdef const char* text = NULL
    if is_finalizing():
        return None, None
    member = enum_member("cuda.bindings.driver", "CUresult", code)
    if member is not None:  # covers statuses that an older driver does not know
        return member.name, member.__doc__
    if loader.backend() is NULL:  # no driver is loaded
        return None, None
    if try_call(driver.cuGetErrorName, code, &name) != CUDA_SUCCESS or name is NULL:
        return None, None
    if try_call(driver.cuGetErrorString, code, &text) != CUDA_SUCCESS or text is NULL:
        return name.decode("ascii"), None
    return name.decode("ascii"), text.decode("utf-8", "backslashreplace")


cdef str emulated_suffix(CUresult code):
    """Return the emulator's explanation of the last error, and its marker."""
    cdef const char* backend = loader.backend()
    if backend is NULL or backend != b"emulator":
        return ""
    try:
        detail = import_module("cuda.core.emulation").error_text(<int>code)
    except ImportError:  # a partly removed package, as in enum_member
        detail = ""
    return f"\n{detail} [emulated]" if detail else " [emulated]"


cdef object driver_error(CUresult code, const char* function):
    name, explanation = driver_texts(code)
    emulated_note = emulated_suffix(code)
    function_name = function.decode() if function is not NULL else None
    text = name if name else f"UNEXPECTED ERROR CODE: {<int>code}"
    if explanation:
        # Advice to use the emulator is useless for errors of the emulator.
        text += f": {explanation.partition(' The emulator (')[0] if emulated_note else explanation}"
    text += emulated_note
    if function_name:
        text += f" [{function_name}]"
    cls = OutOfMemoryError if code == CUDA_ERROR_OUT_OF_MEMORY else CUDAError
    error = cls(text, code=<int>code, name=name, where=function_name)
    add_launch_notes(error, code)
    note_driver_log(error, text)
    record_capture_error(error, code)
    return error


cdef int extend_error(object error, str addition) except -1:
    end = f" [{error.where}]" if error.where else ""
    error.args = (f"{str(error).removesuffix(end)}{addition}{end}",)


cdef int explain_error(object error, str explanation) except -1:
    """Set the second line of a message; it replaces the explanation of the emulator."""
    end = f" [{error.where}]" if error.where else ""
    first, _, rest = str(error).removesuffix(end).partition("\n")
    marker = " [emulated]" if rest.endswith(" [emulated]") else ""
    error.args = (f"{first}{marker}\n{explanation}{end}",)


def make_driver_error(int code, bytes function=None):
    """Create the exception for a status returned by cuda.bindings. Host only."""
    cdef const char* name = NULL
    if function is not None:
        name = function
    return driver_error(<CUresult>code, name)


cdef int raise_driver_error(CUresult code, const char* function) except -1:
    if PyErr_Occurred() is not NULL:
        return -1
    if code == CUDA_ERROR_LAUNCH_TIMEOUT:
        PyErr_CheckSignals()  # raises KeyboardInterrupt if Ctrl-C ended an emulated kernel
    raise driver_error(code, function)


cdef int check_status(CUresult code) except? -1 nogil:
    return check(code, NULL)


cdef object nvrtc_error(int code, const char* function, str log):
    member = enum_member("cuda.bindings.nvrtc", "nvrtcResult", code)
    name = member.name if member is not None else None
    function_name = function.decode() if function is not NULL else None
    text = f"{code}: {name or 'UNEXPECTED ERROR CODE'}"
    if function_name:
        text += f" [{function_name}]"
    if log:
        text += f"\ncompilation log:\n\n{log}"
    return NVRTCError(text, code=code, name=name, where=function_name)


def make_nvrtc_error(int code, str log=None):
    """Create the exception for an NVRTC status returned by cuda.bindings. Host only."""
    return nvrtc_error(code, NULL, log)


cdef int raise_closed(str class_name) except -1:
    raise RuntimeError(f"{class_name} has been closed")


cdef object require_set(object owner, object value):
    """Return a field that a constructor sets; raise RuntimeError while it is None."""
    if value is None:
        raise_uninitialized(owner)
    return value


cdef int warn_deprecated(str old, str new) except -1:
    # Compiled code has no Python frame, so stack level 1 is the caller's line.
    return PyErr_WarnEx(DeprecationWarning, f"{old} is deprecated: use {new}".encode(), 1)


cdef int report_line(str text) except -1:
    import sys

    if sys.stderr is not None:
        print(text, file=sys.stderr)


cdef void record_capture_error(object error, CUresult code) except *:
    """Record the first call that invalidated the capture, for the error at its end."""
    global invalidating_call
    if not CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED <= code <= CUDA_ERROR_STREAM_CAPTURE_IMPLICIT:
        return
    if captures_under_way() and invalidating_call is None:
        frame = sys._getframe()
        invalidating_call = (f"{error.where or 'a driver call'} at {frame.f_code.co_filename}:"
                             f"{frame.f_lineno} failed with {error.name}")


cdef int clear_capture_error() except -1:
    global invalidating_call
    invalidating_call = None


cdef str capture_error_text():
    return invalidating_call or ""


cdef object shown_object(object value):
    return shown(value)


def _set_error_hook():
    """Register the exceptions and the cleanup warning with C++."""
    global raise_driver_error_in_cpp, show_value_in_cpp
    raise_driver_error_in_cpp = raise_driver_error
    show_value_in_cpp = shown_object
    set_cleanup_warning(CUDAWarning)


_set_error_hook()
