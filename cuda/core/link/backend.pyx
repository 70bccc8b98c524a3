# SPDX-License-Identifier: Apache-2.0
# Which library links: nvJitLink, or the driver where it is missing or too old.


cdef object backend_lock = RLock()
cdef object uses_driver = None  # None until it is known

# What the import of the low layer's module may miss without being broken itself.
cdef tuple OPTIONAL_MODULES = ("nvidia", "cuda", "cuda.bindings", "cuda.bindings.nvjitlink")


def _decide_nvjitlink_or_driver():
    """Whether the driver links, for want of nvJitLink 12.3 or newer; decided once. Host only."""
    global uses_driver
    with backend_lock:
        if uses_driver is None:
            why = problem_of_nvjitlink()
            if why:
                warnings.warn(
                    f"cuda.bindings.nvjitlink {why}, so the driver links in its place: it does "
                    "not link LTO IR, nor what a newer compiler made", RuntimeWarning,
                    stacklevel=1)  # compiled code has no frame: 1 is the caller
            uses_driver = bool(why)
        return uses_driver


cdef str problem_of_nvjitlink():
    """Why nvJitLink cannot be used; empty when it can."""
    try:
        import_module("cuda.bindings.nvjitlink")
    except ModuleNotFoundError as error:
        if error.name not in OPTIONAL_MODULES:
            raise
        return "is not available"
    try:
        found = _low.inspect_function_pointer("nvjitlink", "nvJitLinkVersion")
    except RuntimeError:  # the library cannot be opened
        return "is not available"
    # Older ones have no function of that plain name.
    return "" if found else "is too old (nvJitLink 12.3 or newer is needed)"
