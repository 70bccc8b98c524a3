# SPDX-License-Identifier: Apache-2.0
# WorkqueueResource: concurrency limit and sharing scope of work queues.

SHARING_SCOPES = {
    "device_ctx": cydriver.CU_WORKQUEUE_SCOPE_DEVICE_CTX,
    "green_ctx_balanced": cydriver.CU_WORKQUEUE_SCOPE_GREEN_CTX_BALANCED,
}


@cython.final
cdef class WorkqueueResource:
    """Configuration of a device's work queues, for the creation of a green context.

    `DeviceResources.workqueue` returns this object. `configure` changes it; contexts created later
    use the changed configuration.
    """

    def __init__(self, *args, **kwargs):
        raise RuntimeError("WorkqueueResource cannot be instantiated directly. Please use "
                           "Device.resources.workqueue.")

    @property
    def handle(self):
        """Address of the ``CUdevResource``, valid while the object is alive. Host only."""
        return <uintptr_t>&self.config

    @property
    def sharing_scope(self):
        """Sharing scope of the queues, `cuda.core.typing.WorkqueueSharingScopeType`. Host only."""
        names = {number: name for name, number in SHARING_SCOPES.items()}
        scopes = import_module("cuda.core.typing").WorkqueueSharingScopeType
        return scopes(names[<int>self.config.wqConfig.sharingScope])

    @property
    def concurrency_limit(self):
        """Expected number of streams with concurrent work. Host only."""
        return self.config.wqConfig.wqConcurrencyLimit

    @property
    def device(self):
        """The `Device` of the queues. Host only."""
        initialize_driver()
        return device_of_ordinal(self.config.wqConfig.device)

    def configure(self, options):
        """Set the configuration for contexts created later from this object.

        Host only.

        Parameters
        ----------
        options : WorkqueueResourceOptions or dict
            Settings; fields that are None do not change.

        Raises
        ------
        TypeError
            If `options` has another type.
        ValueError
            If the value of a field is invalid.
        """
        records = import_module("cuda.core.execution.resources.options")
        options = as_options(options, records.WorkqueueResourceOptions, "workqueue options")
        if options is None:
            raise TypeError("WorkqueueResource.configure() needs options: a "
                            "WorkqueueResourceOptions, or a dict of its keywords")
        scope, limit = records.checked_workqueue(options)
        with cython.critical_section(self):
            if scope is not None:
                self.config.wqConfig.sharingScope = SHARING_SCOPES[scope]
            if limit is not None:
                self.config.wqConfig.wqConcurrencyLimit = limit

    def __repr__(self):
        return (f"<WorkqueueResource sharing_scope={str(self.sharing_scope)!r} "
                f"concurrency_limit={self.concurrency_limit}>")
