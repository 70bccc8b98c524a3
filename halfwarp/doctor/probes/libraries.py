# SPDX-License-Identifier: Apache-2.0
"""The libraries around the driver: where each is and its version, or where it was looked for."""

import platform
from collections import namedtuple
from importlib import import_module, metadata

from halfwarp.doctor.places import first_line, searched


class Library(namedtuple("Library", "name ask package use", defaults=[""])):
    """One library, and how its version is asked of the module of `cuda.bindings` for it.

    ``name``: as the pathfinder knows it. ``ask``: the function of the module. ``package``: the
    distribution that has it; empty for one that comes with the driver. ``use``: what of `cuda.core`
    does not work without it.
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
EXTRA = ("nvrtc", "nvJitLink", "nvvm")  # what halfwarp[cu13] installs
BY_NAME = {library.name: library for library in LIBRARIES}


def present_here():
    """Names of the libraries that exist for machines like this one."""
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
        f"{library.name} is not found: {library.use} will fail",
        f"pip install '{package}', or set CUDA_PATH to a CUDA toolkit",
    )


def package_version(library, path):
    """The version of the distribution that a library is part of; None for one of a toolkit."""
    if not library.package or "site-packages" not in (path or ""):
        return None
    try:
        return metadata.version(library.package)
    except metadata.PackageNotFoundError:
        return None


def version_of(library):
    """What the library says of itself, as text."""
    module = import_module(f"cuda.bindings.{library.module}")
    if library.name == "nvml":
        module.init_v2()
    answer = getattr(module, library.ask)()
    if library.module in ("nvrtc", "runtime"):
        status, *answer = answer
        if int(status) != 0:
            raise RuntimeError(f"{library.ask} answers {status!r}")
        answer = answer[0] if len(answer) == 1 else answer
    if isinstance(answer, str):
        return answer
    return ".".join(map(str, answer)) if not isinstance(answer, int) else split(answer)


def split(version):
    """13050 -> ``"13.5"``."""
    return f"{version // 1000}.{version % 1000 // 10}"
