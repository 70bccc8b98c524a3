# SPDX-License-Identifier: Apache-2.0
"""Loader: opens the driver (or the emulator) and each library at first use, and fills its table.

The C++ code in `cpp/driver/loader` does this without Python. This file raises its failures as
exceptions, finds libraries with ``cuda.pathfinder``, and returns the state of the loader.
"""

from cpython.pycapsule cimport PyCapsule_Import, PyCapsule_New

import os
import sys


cdef extern from *:
    """
    #ifdef __clang__
    #define HALFWARP_C_COMPILER "Clang " __clang_version__
    #elif defined(__GNUC__)
    #define HALFWARP_C_COMPILER "GCC " __VERSION__
    #else
    #define HALFWARP_C_COMPILER "Unknown"
    #endif
    """
    const char* HALFWARP_C_COMPILER


cdef extern from "<dlfcn.h>":
    int RTLD_GLOBAL, RTLD_LAZY, RTLD_NOLOAD, RTLD_NOW
    void* dlopen(const char* path, int mode)
    int dlclose(void* handle)


cdef extern from "driver/loader/python_side.hpp" nogil:
    enum backend_id:
        BACKEND_NONE
        BACKEND_DRIVER
        BACKEND_EMULATOR
    enum failure_kind:
        FAILURE_SETTING
        FAILURE_LIBRARY
        FAILURE_FUNCTION
        FAILURE_TOO_OLD
    struct loader_failure:
        failure_kind kind
        library_id library
        backend_id backend
        const char* function
        int required_version
        int driver_version
        const char* detail
    struct python_side:
        int (*raise_ "raise")(const loader_failure*) except -1
        void* (*open)(library_id, const char*) except NULL
        int (*fill_from_module)(library_id) except -1
        void (*on_backend_opened)(backend_id) noexcept
    void loader_connect(const python_side*)
    const loader_api* loader_interface()
    void* loader_address(library_id, const char*)
    void* loader_emulator_symbol(const char*)
    library_id loader_library(const char*)
    const char* loader_library_name(library_id)
    const char* loader_source(library_id)
    const char* loader_package(library_id)
    const char* loader_remedy(library_id)
    const char* loader_exported_name(library_id, unsigned)
    const char* loader_per_thread_suffix(library_id, unsigned)
    void loader_publish_library()
    void loader_put(library_id, unsigned, void*)
    int loader_request_backend(backend_id)
    backend_id loader_backend()
    backend_id loader_selected_backend()
    void loader_reset(int)


C_COMPILER = HALFWARP_C_COMPILER.decode()

cdef dict BACKENDS = {"driver": BACKEND_DRIVER, "emulator": BACKEND_EMULATOR}


def backend():
    """Name of the library that provides the driver's functions: ``"driver"`` or ``"emulator"``.

    Host only. None before the first driver call, which selects the backend.
    """
    cdef backend_id used = loader_backend()
    for name, value in BACKENDS.items():
        if value == used:
            return name
    return None


def is_emulated():
    """Whether the emulator executes driver calls, or will execute them.

    Host only. Opens a library only if ``HALFWARP_BACKEND=auto`` makes the choice depend on it.
    """
    if loader_backend() == BACKEND_NONE and loader_selected_backend() == BACKEND_NONE:
        try:
            load("driver")
        except RuntimeError:  # neither can be opened: the first driver call reports it
            return False
    return (loader_backend() or loader_selected_backend()) == BACKEND_EMULATOR


def set_backend(str name not None):
    """Select the backend from code, instead of with ``HALFWARP_BACKEND``.

    Host only. Selecting the backend that is in use does nothing.

    Parameters
    ----------
    name
        ``"driver"`` or ``"emulator"``.

    Raises
    ------
    ValueError
        For another name.
    RuntimeError
        If this process has used the other backend: the backend cannot change any more.
    """
    if name not in BACKENDS:
        raise ValueError(f"backend must be 'driver' or 'emulator', got {name!r}")
    if not loader_request_backend(BACKENDS[name]):
        raise RuntimeError(
            f"the backend cannot change to {name!r}: this process has used {backend()!r} already; "
            f"select it before the first driver call, or set HALFWARP_BACKEND={name}")


def load(str library not None):
    """Open a library and fill its table now instead of at the first call.

    Blocks the host.

    Parameters
    ----------
    library
        Name of its module, as in ``"driver"`` or ``"nvrtc"``.

    Raises
    ------
    DynamicLibNotFoundError
        If the library cannot be opened.
    """
    loader_interface().ensure(library_of(library))


def inspect_function_pointer(str library not None, str name not None):
    """Address of a C function in its table, as an int; 0 if the library lacks the function.

    Blocks the host: opens the library if it is not open yet.

    Parameters
    ----------
    library
        Name of its module, as in ``"driver"`` or ``"nvrtc"``.
    name
        Public or exported name: ``"cuMemAlloc"`` or ``"cuMemAlloc_v2"``.

    Raises
    ------
    DynamicLibNotFoundError
        If the library cannot be opened.
    """
    load(library)
    return <size_t>loader_address(library_of(library), name.encode())


def emulator_function(str name not None):
    """Address of a function of the emulator beyond the driver API, as an int; 0 with a driver.

    Blocks the host: opens the library if it is not open yet.

    Parameters
    ----------
    name
        Name in ``cpp/emulator/control/control.h``.
    """
    load("driver")
    return <size_t>loader_emulator_symbol(name.encode())


def exported_names(str library not None):
    """Exported names of all functions of a library, in the order of its table.

    Host only.
    """
    cdef library_id number = library_of(library)
    cdef const char* name
    names = []
    while (name := loader_exported_name(number, len(names))) is not NULL:
        names.append(name.decode())
    return names


def _answer_as_driver_of(int version):
    """For tests: reset the loader; imitate a driver for that CUDA version (12020), 0: none."""
    loader_reset(version)


def library_names():
    """Names of all libraries that have a table. Host only."""
    return [loader_library_name(<library_id>i).decode() for i in range(HALFWARP_LIBRARY_COUNT)]


cdef library_id library_of(str name) except *:
    cdef library_id library = loader_library(name.encode())
    if library == HALFWARP_LIBRARY_COUNT:
        raise ValueError(f"library must be one of {', '.join(library_names())}, got {name!r}")
    return library


cdef str version_text(int version):
    return f"{version // 1000}.{version % 1000 // 10}"


cdef str search_path():
    path = os.environ.get("LD_LIBRARY_PATH")
    return (f"LD_LIBRARY_PATH={path}" if path else "LD_LIBRARY_PATH (not set)") + \
        ", the cache of ldconfig, /lib and /usr/lib"


cdef str library_message(const loader_failure* failure, str caller, str detail):
    if failure.backend == BACKEND_EMULATOR:
        return (f"{caller} needs the emulator of the CUDA driver, which cannot be opened: "
                f"{detail}; it is part of halfwarp, in the folder of cuda/bindings: reinstall the "
                "package, or set HALFWARP_BACKEND=driver to use a GPU")
    return (f"{caller} needs the CUDA driver, which cannot be opened: {detail}. Looked in: "
            f"{search_path()}. Install the NVIDIA driver, or run without a GPU on the CPU "
            "emulator: HALFWARP_BACKEND=emulator (or auto)")


cdef str function_message(const loader_failure* failure, str name):
    if failure.library != HALFWARP_DRIVER:
        library = loader_library_name(failure.library).decode()
        return (f"{name} is not in the {library} library that was loaded: it is too old; install "
                f"a newer {loader_package(failure.library).decode()}")
    required = "another driver"
    if failure.required_version:
        required = f"a driver of CUDA {version_text(failure.required_version)} or newer"
    return (f"{name} is not in the CUDA driver, which supports CUDA "
            f"{version_text(failure.driver_version)}: it needs {required}")


cdef str age_message(const loader_failure* failure, str caller):
    return (f"{caller} needs a driver of CUDA {version_text(failure.required_version)} or "
            "newer; the installed driver supports CUDA "
            f"{version_text(failure.driver_version)}. Install a newer NVIDIA driver, or run "
            "without a GPU on the CPU emulator: HALFWARP_BACKEND=emulator (or auto)")


cdef int raise_failure(const loader_failure* failure) except -1 with gil:
    name = failure.function.decode() if failure.function is not NULL else ""
    detail = failure.detail.decode("utf-8", "replace")
    if failure.kind == FAILURE_SETTING:
        raise RuntimeError(
            f"HALFWARP_BACKEND={detail!r} is not understood: use driver, emulator or auto")
    if failure.kind == FAILURE_FUNCTION:
        from cuda.bindings._internal.utils import FunctionNotFoundError

        raise FunctionNotFoundError(function_message(failure, name))
    if failure.kind == FAILURE_TOO_OLD:
        from cuda.bindings._internal.utils import NotSupportedError

        raise NotSupportedError(age_message(failure, f"{name}()" if name else "cuda.bindings"))
    from cuda.pathfinder import DynamicLibNotFoundError

    raise DynamicLibNotFoundError(
        library_message(failure, f"{name}()" if name else "cuda.bindings", detail))


cdef str without_listings(str message):
    """Shorten a message of the pathfinder: keep the searched folders, omit their contents."""
    first, *lines = message.splitlines() or [""]
    folders = [line.split('"')[1] for line in lines if line.lstrip().startswith('listdir("')]
    return f"{first}. Looked in: {', '.join(dict.fromkeys(folders))}" if folders else message


cdef void clear_search_caches():
    """Make the pathfinder search again at the next call.

    It caches folders and environment variables, and so would not find a package that is installed,
    or a toolkit that is named, while the process runs.
    """
    for name in [name for name in sys.modules if name.startswith("cuda.pathfinder._utils.")]:
        for value in vars(sys.modules[name]).values():
            cache_clear = getattr(value, "cache_clear", None)
            if cache_clear is not None:
                cache_clear()


cdef void log_opened(str name, object path) noexcept:
    """Log an opened library with `halfwarp.logs`; an exception in it is printed."""
    if "logging" in sys.modules:
        from halfwarp.logs import note_library

        note_library(name, path)


cdef void on_backend_opened(backend_id used) noexcept with gil:
    log_opened("driver", "the emulator" if used == BACKEND_EMULATOR else "libcuda.so.1")
    if used == BACKEND_EMULATOR:
        trace_call_sites()


# Library: its file, and the folder of NVIDIA's package for CUDA 12.
cdef dict PACKAGED = {
    "nvrtc": ("libnvrtc.so.13", "cuda_nvrtc"),
    "nvJitLink": ("libnvJitLink.so.13", "nvjitlink"),
}


cdef str packaged_path(str name):
    """Return the path that the pathfinder would find first if that is certain, else None.

    The import of the pathfinder takes 28 ms, a third of the start of a program that compiles.
    """
    if name not in PACKAGED or "cuda.pathfinder" in sys.modules:
        return None
    if any([variable.startswith("CUDA_PATHFINDER") for variable in os.environ]):
        return None
    file, earlier = PACKAGED[name]
    packages = [os.path.join(folder, "nvidia") for folder in dict.fromkeys(sys.path)]
    packages = [folder for folder in packages if os.path.isdir(folder)]
    if len(packages) != 1 or os.path.isdir(os.path.join(packages[0], earlier)):
        return None
    if os.path.basename(os.path.dirname(packages[0])) not in ("site-packages", "dist-packages"):
        return None
    path = os.path.join(packages[0], "cu13", "lib", file)
    return path if os.path.isfile(path) else None


def packaged_library(str name not None):
    """Path of a library in NVIDIA's package that the first call of it will open, or None.

    Host only. None if the process has opened a library of that name, or the search is not certain.
    """
    path = packaged_path(name)
    if path is None:
        return None
    loaded = dlopen(PACKAGED[name][0].encode(), RTLD_LAZY | RTLD_NOLOAD)
    if loaded is not NULL:  # by other code, perhaps from another folder
        dlclose(loaded)
        return None
    return path


cdef void* open_packaged(str name) except? NULL:
    """Open a library by `packaged_library`; NULL leaves it to the pathfinder."""
    path = packaged_library(name)
    if path is None:
        return NULL
    handle = dlopen(os.fsencode(path), RTLD_NOW | RTLD_GLOBAL)
    if handle is not NULL:
        log_opened(name, path)
    return handle


cdef void* open_library(library_id library, const char* function) except NULL with gil:
    name = loader_source(library).decode()
    handle = open_packaged(name)
    if handle is not NULL:
        return handle
    from cuda.pathfinder import DynamicLibNotFoundError, load_nvidia_dynamic_lib

    try:
        loaded = load_nvidia_dynamic_lib(name)
        log_opened(name, loaded.abs_path)
        return <void*><size_t>loaded._handle_uint
    except DynamicLibNotFoundError as error:
        clear_search_caches()
        message = without_listings(str(error)).rstrip(". \n")
        caller = f"{function.decode()}()" if function is not NULL else "cuda.bindings"
        raise DynamicLibNotFoundError(
            f"{caller} needs the library {name}, which cannot be found: {message}. "
            f"{loader_remedy(library).decode()}") from error


cdef int fill_from_module(library_id library) except -1 with gil:
    """Fill the table of a library from the extension that contains it."""
    cdef unsigned slot = 0
    cdef const char* name
    from importlib import import_module

    module = loader_source(library).decode()
    import_module(module)
    find = <function_source>PyCapsule_Import(f"{module}._functions".encode(), 0)
    loader_publish_library()
    while (name := loader_exported_name(library, slot)) is not NULL:
        suffix = loader_per_thread_suffix(library, slot)
        loader_put(library, slot, find(loader_interface(), name, suffix))
        slot += 1


cdef python_side side
side.raise_ = raise_failure
side.open = open_library
side.fill_from_module = fill_from_module
side.on_backend_opened = on_backend_opened
loader_connect(&side)

_api = PyCapsule_New(<void*>loader_interface(), HALFWARP_LOADER_CAPSULE, NULL)
