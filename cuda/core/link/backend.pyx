# SPDX-License-Identifier: Apache-2.0
# The library that links: nvJitLink, or the driver if nvJitLink is missing or too old.


cdef object backend_lock = RLock()
cdef object uses_driver = None  # None until decided

# Modules whose absence means that nvJitLink is not installed, not that the import is broken.
cdef tuple OPTIONAL_MODULES = ("nvidia", "cuda", "cuda.bindings", "cuda.bindings.nvjitlink")


def _decide_nvjitlink_or_driver():
    """Return whether the driver links because nvJitLink 12.3 is missing. Host only."""
    global uses_driver
    with backend_lock:
        if uses_driver is None:
            problem = problem_of_nvjitlink()
            if problem:
                warnings.warn(
                    f"cuda.bindings.nvjitlink {problem}, so the driver links instead: it supports "
                    "neither LTO IR nor code of a newer compiler", RuntimeWarning,
                    stacklevel=1)  # compiled code has no frame: 1 is the caller
            uses_driver = bool(problem)
        return uses_driver


cdef str problem_of_nvjitlink():
    """Return why nvJitLink cannot be used; empty if it can."""
    try:
        import_module("cuda.bindings.nvjitlink")
    except ModuleNotFoundError as error:
        if error.name not in OPTIONAL_MODULES:
            raise
        return "is not available"
    try:
        address = _low.inspect_function_pointer("nvjitlink", "nvJitLinkVersion")
    except RuntimeError:  # the library cannot be opened
        return "is not available"
    # Older releases have no function with this unversioned name.
    return "" if address else "is too old (nvJitLink 12.3 or newer is needed)"
