# SPDX-License-Identifier: Apache-2.0
"""The libraries around the driver: path and version of each, or where it was searched for."""

import platform
from collections import namedtuple
from importlib import import_module, metadata

from halfwarp.doctor.places import first_line, searched


class Library(namedtuple("Library", "name version_function package use", defaults=[""])):
    """A library, and how to query its version through its module of `cuda.bindings`.

    ``name``: as in the pathfinder. ``version_function``: a function of the module. ``package``: the
    distribution that contains it; empty if it comes with the driver. ``use``: the part of
    `cuda.core` that needs it.
    """

    @property
    def module(self):
        return "runtime" if self.name == "cudart" else self.name.lower()


LIBRARIES = [
    Library("nvrtc", "nvrtcVersion", "nvidia-cuda-nvrtc", "compiling CUDA C++ (Program)"),
    Library("nvJitLink", "version", "nvidia-nvjitlink", "linking PTX and LTO IR"),
    Library("nvvm", "version", "nvidia-nvvm", "compiling NVVM IR"),
    Library("nvfatbin", "version", "nvidia-nvfatbin"),
    Library("cufile", "get_version", "nvidia-cufile"),
    Library("nvml", "system_get_nvml_version", ""),
    Library("cudart", "getLocalRuntimeVersion", "nvidia-cuda-runtime"),
    Library("cudla", "get_version", "nvidia-cudla"),
]
EXTRA = ("nvrtc", "nvJitLink", "nvvm")  # installed by halfwarp[cu13]
BY_NAME = {library.name: library for library in LIBRARIES}


def present_here():
    """Return the names of the libraries that exist for this machine's processor."""
    is_known = {"cudla": platform.machine() == "aarch64"}
    return [name for name in BY_NAME if is_known.get(name, True)]


def probe(findings, name):
    library = BY_NAME[name]
    from cuda.pathfinder import DynamicLibNotFoundError, load_nvidia_dynamic_lib

    findings.facts |= {"is_found": False, "package": library.package, "use": library.use}
    try:
        loaded = load_nvidia_dynamic_lib(library.name)
    except DynamicLibNotFoundError as error:
        findings.facts |= {"error": first_line(error), "searched": searched(error)}
        if library.use:
            warn_of_absence(findings, library)
        return
    findings.facts |= {
        "is_found": True,
        "path": loaded.abs_path,
        "found_by": loaded.found_via,
        "package_version": package_version(library, loaded.abs_path),
    }
    findings.facts["version"] = version_of(library)


def warn_of_absence(findings, library):
    package = "halfwarp[cu13]" if library.name in EXTRA else library.package
    findings.warning(
        f"{library.name} was not found: {library.use} will fail",
        f"pip install '{package}', or set CUDA_PATH to a CUDA toolkit",
    )


def package_version(library, path):
    """Return the version of the library's distribution; None for a library of a toolkit."""
    if not library.package or "site-packages" not in (path or ""):
        return None
    try:
        return metadata.version(library.package)
    except metadata.PackageNotFoundError:
        return None


def version_of(library):
    """Return the version that the library reports, as text."""
    module = import_module(f"cuda.bindings.{library.module}")
    if library.name == "nvml":
        module.init_v2()
    version = getattr(module, library.version_function)()
    if library.module in ("nvrtc", "runtime"):
        status, *version = version
        if int(status) != 0:
            raise RuntimeError(f"{library.version_function} returns {status!r}")
        version = version[0] if len(version) == 1 else version
    if isinstance(version, str):
        return version
    return ".".join(map(str, version)) if not isinstance(version, int) else split(version)


def split(version):
    """Convert 13050 to ``"13.5"``."""
    return f"{version // 1000}.{version % 1000 // 10}"
