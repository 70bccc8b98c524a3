# SPDX-License-Identifier: Apache-2.0
# NVRTC before its first call. A hit in a program cache needs its version only, and opening the
# library takes 9 ms, a third of the start of a program.

cdef enum:
    NVRTC_UNDECIDED
    NVRTC_EXPECTED  # in NVIDIA's package, and not opened by this package so far
    NVRTC_IN_USE

cdef int nvrtc_state = NVRTC_UNDECIDED


cdef bint is_nvrtc_expected() except -1:
    """Return whether the first call will open a library whose version is known without it."""
    global nvrtc_state, cached_nvrtc_version
    if nvrtc_state == NVRTC_UNDECIDED and not cached_nvrtc_version:
        cached_nvrtc_version = packaged_nvrtc_version(_low.packaged_library("nvrtc"))
        nvrtc_state = NVRTC_EXPECTED if cached_nvrtc_version else NVRTC_IN_USE
    return nvrtc_state == NVRTC_EXPECTED


cdef int packaged_nvrtc_version(object path) except -1:
    """Return the version of a packaged NVRTC as 1000 * major + minor; 0 in doubt.

    NVRTC opens a second library whose name ends with exactly its version.
    """
    if path is None:
        return 0
    prefix = "libnvrtc-builtins.so."
    names = [name for name in os.listdir(os.path.dirname(path)) if name.startswith(prefix)]
    if len(names) != 1:
        return 0
    major, _, minor = names[0].removeprefix(prefix).partition(".")
    if not (major.isdecimal() and minor.isdecimal()):
        return 0
    return 1000 * int(major) + int(minor)


cdef void note_nvrtc_in_use() except *:
    """Query the version of the opened library, which another program may have put in its place."""
    global nvrtc_state, cached_nvrtc_version
    if nvrtc_state == NVRTC_IN_USE:
        return
    major, minor = version_of_nvrtc()
    if cached_nvrtc_version != 1000 * major + minor:
        import_module("cuda.core.compile.cache.fingerprints").nvrtc_version.cache_clear()
        cached_nvrtc_version = 1000 * major + minor
    nvrtc_state = NVRTC_IN_USE
