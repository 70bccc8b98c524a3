# SPDX-License-Identifier: Apache-2.0
# PreparedLaunch: a launch that is packed once and repeated.


@cython.final
cdef class PreparedLaunch:
    """A launch whose arguments are checked and packed once, by `Kernel.prepare`.

    ``prepared(stream)`` launches, ``prepared[i] = value`` replaces one argument. It keeps its
    arguments alive; memory of a Buffer stays even when the Buffer is closed, until the argument is
    replaced. Several threads may launch at once; replacing needs the caller's lock.
    """

    def __cinit__(self):
        self.values, self.kept = [], []
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
        stream : Stream
            Where the kernel runs.

        Raises
        ------
        RuntimeError
            If the stream is closed.
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
        return self.launched

    @property
    def config(self):
        """A copy of the `LaunchConfig` that was given. Host only."""
        return None if self.shape is None else copy_config(self.shape)

    def __len__(self):
        return len(self.values)

    def __getitem__(self, index):
        return self.values[index]

    def __setitem__(self, index, value):
        cdef Py_ssize_t place = index
        if place < 0:
            place += len(self.values)
        if not 0 <= place < len(self.values):
            raise IndexError(f"a prepared launch of {len(self.values)} arguments, counted from 0, "
                             f"has none of number {index}")
        kept = memory_of(value)
        with cython.critical_section(self):
            self.fields.launch.replace(place, value)
            self.values[place] = value
            self.kept[place] = kept

    def __repr__(self):
        kernel = "no kernel" if self.launched is None else kernel_name(self.launched)
        return f"<PreparedLaunch of {kernel} with {len(self)} arguments>"


cdef object memory_of(object value):
    """What keeps the memory of a Buffer, else None: the value itself is kept as it is."""
    if isinstance(value, Buffer) and (<Buffer>value).fields.is_open:
        return share_allocation(<Buffer>value)
    return None


cdef LaunchConfig copy_config(LaunchConfig config):
    cdef LaunchConfig copy = LaunchConfig.__new__(LaunchConfig)
    copy.fields = config.fields
    hold_further(copy, config.further)
    return copy


cdef PreparedLaunch prepare_launch(Kernel kernel, object config, tuple values):
    cdef PreparedLaunch made = PreparedLaunch.__new__(PreparedLaunch)
    plan_of(kernel)
    made.launched = kernel
    made.shape = copy_config(accept_config(config))
    made.values[:] = values
    made.kept[:] = [memory_of(value) for value in values]
    made.fields.kernel = <PyObject*>kernel
    made.fields.values = <PyObject*>made.values
    made.fields.owners = <PyObject*>made.kept
    made.fields.entry = submit_raw
    made.fields.launch = new prepared_launch()
    made.fields.launch.prepare(kernel.native, made.shape.fields, values)
    return made


cdef int register_prepared_launch() except -1:
    cdef PreparedLaunch sample = PreparedLaunch.__new__(PreparedLaunch)
    register_prepared_class(sample, &sample.fields)
    return install_prepared_call(PreparedLaunch)


register_prepared_launch()
