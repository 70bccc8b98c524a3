# SPDX-License-Identifier: Apache-2.0
# launch: hooks of the C++ function that need Cython classes.


cdef object accept_stream_for_launch(object stream_arg):
    return accept_launch_stream(stream_arg)


cdef void raise_failed_launch(CUresult code, const char* function, object kernel,
                              object arguments, const CUlaunchConfig* config,
                              CUdevice device) except *:
    if PyErr_Occurred() is not NULL:
        return  # the loader raised: there is no driver
    error = driver_error(code, function)
    if config is not NULL:
        explain_limits(error, config, (<Kernel>kernel).native.get(kernel).raw(), device)
    error.add_note(describe_launch(<Kernel>kernel, arguments))
    raise error


cdef int keep_captured_launch(const stream_ref& stream, object kernel,
                              object arguments) except -1:
    cdef list refs = references_of_capture(stream)
    if refs is not None:
        refs.append(kernel)
        add_operands(refs, arguments, False)


cdef str describe_launch(Kernel kernel, tuple arguments):
    """Describe a launch: kernel, arguments, file and line."""
    values = ", ".join([shown(argument) for argument in arguments])
    frame = sys._getframe()
    return (f"launching {kernel_name(kernel)}({values}) at "
            f"{frame.f_code.co_filename}:{frame.f_lineno}")


cdef object make_launch():
    cdef launch_hooks hooks
    hooks.accept_stream = accept_stream_for_launch
    hooks.raise_failed_launch = raise_failed_launch
    hooks.keep_captured_launch = keep_captured_launch
    return make_launch_function(hooks)


launch = make_launch()
