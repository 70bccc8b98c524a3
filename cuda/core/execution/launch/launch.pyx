# SPDX-License-Identifier: Apache-2.0
# launch: the function itself is C++; what it asks of the classes above it is here.


cdef object accept_stream_for_launch(object given):
    return accept_launch_stream(given)


cdef void raise_failed_launch(CUresult code, const char* function, object kernel,
                              object arguments) except *:
    if PyErr_Occurred() is not NULL:
        return  # the loader's: there was no driver to launch anything
    error = driver_error(code, function)
    error.add_note(describe_launch(<Kernel>kernel, arguments))
    raise error


cdef int keep_captured_launch(const stream_ref& stream, object kernel,
                              object arguments) except -1:
    cdef list kept = list_in_capture(stream)
    if kept is not None:
        kept.append(kernel)
        add_operands(kept, arguments)
    return 0


cdef str describe_launch(Kernel kernel, tuple arguments):
    """Which kernel with which arguments, and from where."""
    shown = ", ".join([shorten(readable(argument)) for argument in arguments])
    frame = sys._getframe()
    return (f"launching {kernel_name(kernel)}({shown}) at "
            f"{frame.f_code.co_filename}:{frame.f_lineno}")


cdef str readable(object argument):
    """For the message of another error, which one of the user's must not replace."""
    try:
        return repr(argument)
    except Exception as error:
        return f"<{type(argument).__name__} whose repr raises {type(error).__name__}>"


cdef str shorten(str text):
    return text if len(text) <= 60 else text[:57] + "..."


cdef object make_launch():
    cdef launch_hooks hooks
    hooks.accept_stream = accept_stream_for_launch
    hooks.raise_failed_launch = raise_failed_launch
    hooks.keep_captured_launch = keep_captured_launch
    return make_launch_function(hooks)


launch = make_launch()
