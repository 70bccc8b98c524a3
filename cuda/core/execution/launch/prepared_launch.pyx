# SPDX-License-Identifier: Apache-2.0
# PreparedLaunch: a launch that is packed once and repeated.


@cython.final
cdef class PreparedLaunch:
    """A launch whose arguments are checked and packed once, by `Kernel.prepare`.

    ``prepared(stream)`` launches, ``prepared[i] = value`` replaces one argument. The object keeps
    its arguments alive until they are replaced. A launch with a closed Buffer is a RuntimeError;
    its memory is freed once the argument is replaced. Several threads may launch concurrently;
    replacing requires the caller's lock.
    """

    def __cinit__(self):
        self.values, self.owners = [], []
        self.fields.vectorcall = call_prepared

    def __init__(self, *args, **kwargs):
        raise RuntimeError("PreparedLaunch objects cannot be instantiated directly; use "
                           "Kernel.prepare(config, *args)")

    def __dealloc__(self):
        del self.fields.launch

    def __call__(self, stream):
        """Launch on a stream.

        Stream-ordered.

        Parameters
        ----------
        stream : Stream or GraphBuilder
            The stream that orders the launch.

        Raises
        ------
        RuntimeError
            If the stream is closed, a Buffer among the arguments was closed, or a builder is not
            capturing.
        CUDAError
            If the driver refuses the launch.

        See Also
        --------
        cuLaunchKernelEx : the driver function.
        """
        call_prepared(<PyObject*>self, [<PyObject*>stream], 1, NULL)

    @property
    def kernel(self):
        """The `Kernel` that is launched. Host only."""
        return self.kernel_object

    @property
    def config(self):
        """A copy of the `LaunchConfig`. Host only."""
        return None if self.shape is None else copy_config(self.shape)

    def __len__(self):
        return len(self.values)

    def __getitem__(self, index):
        return self.values[index]

    def __setitem__(self, index, value):
        cdef Py_ssize_t position = index
        if position < 0:
            position += len(self.values)
        if not 0 <= position < len(self.values):
            raise IndexError(f"argument index {index} is out of range for a prepared launch with "
                             f"{len(self.values)} arguments")
        owners = owner_of_argument(value)
        with cython.critical_section(self):
            self.fields.launch.replace(position, value)
            self.values[position] = value
            self.owners[position] = owners

    def __repr__(self):
        kernel = "no kernel" if self.kernel_object is None else kernel_name(self.kernel_object)
        return f"<PreparedLaunch of {kernel} with {len(self)} arguments>"


cdef LaunchConfig copy_config(LaunchConfig config):
    cdef LaunchConfig copy = LaunchConfig.__new__(LaunchConfig)
    copy.fields = config.fields
    assign_further(copy, config.further)
    return copy


cdef PreparedLaunch prepare_launch(Kernel kernel, object config, tuple values):
    cdef PreparedLaunch prepared = PreparedLaunch.__new__(PreparedLaunch)
    prepared.kernel_object = kernel
    prepared.shape = copy_config(
        accept_config(config, "; the order is prepare(config, *kernel_args)"))
    prepared.values[:] = values
    prepared.owners[:] = [owner_of_argument(value) for value in values]
    prepared.fields.kernel = <PyObject*>kernel
    prepared.fields.values = <PyObject*>prepared.values
    prepared.fields.owners = <PyObject*>prepared.owners
    prepared.fields.entry = submit_raw
    prepared.fields.launch = new prepared_launch()
    prepared.fields.launch.prepare(kernel.native.get(kernel), prepared.shape.fields, values)
    return prepared


cdef int register_prepared_launch() except -1:
    cdef PreparedLaunch sample = PreparedLaunch.__new__(PreparedLaunch)
    register_prepared_class(sample, &sample.fields)
    return install_prepared_call(PreparedLaunch)


register_prepared_launch()
