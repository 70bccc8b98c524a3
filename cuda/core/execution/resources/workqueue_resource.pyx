# SPDX-License-Identifier: Apache-2.0
# WorkqueueResource: how many streams run side by side, and who shares the queues.

SHARING_SCOPES = {
    "device_ctx": cydriver.CU_WORKQUEUE_SCOPE_DEVICE_CTX,
    "green_ctx_balanced": cydriver.CU_WORKQUEUE_SCOPE_GREEN_CTX_BALANCED,
}


@cython.final
cdef class WorkqueueResource:
    """The queues through which a device takes work, which a green context can be made of.

    It comes from `DeviceResources.workqueue`. `configure` changes this object; contexts made of it
    later get what it says then.
    """

    def __init__(self, *args, **kwargs):
        raise RuntimeError("WorkqueueResource cannot be instantiated directly. Please use "
                           "Device.resources.workqueue.")

    @property
    def handle(self):
        """The address of the ``CUdevResource``, valid while the object lives. Host only."""
        return <uintptr_t>&self.config

    @property
    def sharing_scope(self):
        """Who shares the queues, as `cuda.core.typing.WorkqueueSharingScopeType`. Host only."""
        names = {number: name for name, number in SHARING_SCOPES.items()}
        scopes = import_module("cuda.core.typing").WorkqueueSharingScopeType
        return scopes(names[<int>self.config.wqConfig.sharingScope])

    @property
    def concurrency_limit(self):
        """How many streams are expected to have work at the same time. Host only."""
        return self.config.wqConfig.wqConcurrencyLimit

    @property
    def device(self):
        """The `Device` of the queues. Host only."""
        initialize_driver()
        return device_of_ordinal(self.config.wqConfig.device)

    def configure(self, options):
        """Change what contexts get that are made of this object from now on.

        Host only.

        Parameters
        ----------
        options : WorkqueueResourceOptions or dict
            Fields that are None stay as they are.

        Raises
        ------
        TypeError
            If the options are of another type.
        ValueError
            If a field has no value that there is.
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
