# SPDX-License-Identifier: Apache-2.0
# Kernel: a function of a library that a device executes.

from cuda.core.module.records import ParamInfo


cdef class Kernel:
    """A function that a device executes, from `ObjectCode.get_kernel`.

    It keeps its code loaded after the ObjectCode is destroyed. All wrappers of the same kernel are
    equal.
    """

    def __init__(self, *args, **kwargs):
        raise RuntimeError("Kernel objects cannot be instantiated directly. Please use ObjectCode "
                           "APIs. It comes from ObjectCode.get_kernel() or Kernel.from_handle().")

    @staticmethod
    def from_handle(handle, mod=None):
        """Wrap an existing kernel.

        Host only.

        Parameters
        ----------
        handle : int, driver.CUkernel, driver.CUfunction or runtime.cudaKernel_t
            The kernel, or its address.
        mod : ObjectCode, optional
            The code that contains the kernel; the wrapper retains it.

        Returns
        -------
        Kernel

        Raises
        ------
        TypeError
            If `handle` is not an integer, or `mod` not an ObjectCode.
        """
        if not PyIndex_Check(handle) and bindings_class_of(handle, KERNEL_CLASSES) is None:
            raise TypeError(f"handle must be an integer, got {type(handle).__name__}")
        if mod is not None and not isinstance(mod, ObjectCode):
            raise TypeError(f"mod must be an ObjectCode, got {qualified_name(mod)}")
        return kernel_of_raw(<CUkernel>address_from(handle), mod)

    @staticmethod
    def _from_obj(handle, mod=None):
        """Deprecated spelling of `from_handle`."""
        warn_deprecated("Kernel._from_obj", "Kernel.from_handle")
        return Kernel.from_handle(handle, mod)

    @property
    def handle(self):
        """Kernel as `cuda.bindings.driver.CUkernel`. Host only.

        Reading it keeps the code loaded until the process exits, since the handle may outlive this
        object.
        """
        keep_loaded(self.native.get(self).parent())
        return as_bindings("CUkernel", self.native.get(self).raw())

    @property
    def _handle(self):
        return self.handle

    @property
    @cython.critical_section
    def attributes(self):
        """Attributes of the compiled kernel, a `KernelAttributes`. Host only."""
        if self.cached_attributes is None:
            self.cached_attributes = make_attributes(self.native.get(self),
                                                     FOLLOW_CURRENT_DEVICE, {})
        return self.cached_attributes

    @property
    @cython.critical_section
    def occupancy(self):
        """Occupancy queries of the kernel, a `KernelOccupancy`. Host only."""
        if self.cached_occupancy is None:
            self.cached_occupancy = make_occupancy(self.native.get(self))
        return self.cached_occupancy

    @property
    def num_arguments(self):
        """Number of parameters. Host only.

        Raises
        ------
        NotImplementedError
            If the driver is older than CUDA 12.4.
        CUDAError
            If no context is current.

        See Also
        --------
        cuKernelGetParamInfo : the driver function, called once.
        """
        return known_layout(self).parameters.size()

    @property
    def arguments_info(self):
        """Offset and size of each parameter in bytes, a list of `ParamInfo`. Host only.

        Raises
        ------
        NotImplementedError
            If the driver is older than CUDA 12.4.
        CUDAError
            If no context is current.

        See Also
        --------
        cuKernelGetParamInfo : the driver function, called once.
        """
        cdef const parameter_layout* layout = known_layout(self)
        return [ParamInfo(layout.offsets[i], layout.parameters[i].size)
                for i in range(layout.parameters.size())]

    def prepare(self, config, *kernel_args):
        """Check and pack a launch once, to repeat it at the cost of the driver call.

        Host only.

        Parameters
        ----------
        config : LaunchConfig
            Dimensions and options of the launch; copied.
        *kernel_args
            Arguments as for `launch`.

        Returns
        -------
        PreparedLaunch
            ``prepared(stream)`` launches; ``prepared[i] = value`` replaces an argument.

        Raises
        ------
        TypeError, OverflowError
            For the reasons of `launch`.
        """
        return prepare_launch(self, config, kernel_args)

    def __eq__(self, other):
        if not isinstance(other, Kernel):
            return NotImplemented
        return (self.native.value_or_null().raw()
                == (<Kernel>other).native.value_or_null().raw())

    def __hash__(self):
        return hash(<uintptr_t>self.native.value_or_null().raw())

    def _repr_html_(self):
        """Return the table that a notebook shows. Host only."""
        return import_module("cuda.core._utils.display").kernel_html(self)

    def __repr__(self):
        if not self.native.is_set():
            return "<Kernel handle=0x0>"
        address = <uintptr_t>self.native.get(self).raw()
        return f"<Kernel handle=0x{address:x} name={kernel_name(self)!r}>"


cdef tuple KERNEL_CLASSES = ("driver.CUkernel", "driver.CUfunction", "runtime.cudaKernel_t")


cdef Kernel wrap_kernel(const kernel_handle& native):
    cdef Kernel kernel = Kernel.__new__(Kernel)
    kernel.native.set(native)
    return kernel


cdef Kernel kernel_of_raw(CUkernel raw, ObjectCode mod):
    cdef library_handle library
    if mod is not None:
        library = share(mod, mod.native)
    cdef kernel_handle native = kernel_of(raw, library)
    cdef Kernel kernel = wrap_kernel(native)
    if mod is None:
        return kernel
    if native.is_owned():
        if library.is_open() and native.parent().raw() != library.raw():
            PyErr_WarnEx(UserWarning, b"the library of mod is not the library of the kernel, which "
                                      b"is retained instead", 1)
    else:
        kernel.source = mod
    return kernel


cdef str kernel_name(Kernel kernel):
    return text_of(plan_of(kernel).readable_name())


cdef launch_plan* plan_of(Kernel kernel) except NULL:
    return kernel.native.get(kernel).facts().plan.get()


cdef const parameter_layout* known_layout(Kernel kernel) except NULL:
    cdef launch_plan* plan = plan_of(kernel)
    cdef const parameter_layout* layout
    # Without a context drivers return different errors, which could look like the end of the list.
    if raw_current_context() is NULL:
        raise_driver_error(CUDA_ERROR_INVALID_CONTEXT, "cuKernelGetParamInfo")
    with nogil:
        layout = &plan.load_layout()
    if not layout.is_known:
        raise NotImplementedError("querying kernel parameters needs a driver of CUDA 12.4 or newer "
                                  "(cuKernelGetParamInfo)")
    return layout


cdef int register_kernel() except -1:
    cdef Kernel sample = Kernel.__new__(Kernel)
    return register_kernel_class(sample, &sample.native)


register_kernel()
