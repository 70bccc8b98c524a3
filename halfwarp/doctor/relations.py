# SPDX-License-Identifier: Apache-2.0
"""Checks that combine several findings: a missing driver that is needed, versions that differ."""

from halfwarp.doctor.findings import REBUILD, REINSTALL

OLDEST_DRIVER = (12, 0)
INSTALL_DRIVER = (
    "install an NVIDIA driver of CUDA 12.0 or newer (525 or newer), or set HALFWARP_BACKEND="
    "emulator to run on the CPU"
)
# error code of cuInit -> remedy
REMEDIES = {
    "CUDA_ERROR_NO_DEVICE": "check CUDA_VISIBLE_DEVICES; in a container, pass the devices in "
    "(docker run --gpus all)",
    "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH": "restart the machine: the kernel module is of another "
    "release than the driver's library",
    "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE": "remove the compat folder from LD_LIBRARY_PATH: "
    "this device does not support a newer driver's library",
    "CUDA_ERROR_SYSTEM_NOT_READY": "start the fabric manager (nvidia-fabricmanager)",
    "CUDA_ERROR_OPERATING_SYSTEM": "check the permissions of /dev/nvidia*",
    "CUDA_ERROR_UNKNOWN": "load the module nvidia_uvm (nvidia-modprobe -u); after a suspend, "
    "reload it",
    "CUDA_ERROR_STUB_LIBRARY": "remove the folder of stubs from LD_LIBRARY_PATH: it is for linking",
}


def compare(findings, facts):
    """Add the problems that follow from the facts of all probes."""
    driver, backend, libraries = (facts[name] for name in ("driver", "backend", "libraries"))
    judge_backend(findings, driver, backend)
    if driver.get("is_found"):
        judge_driver(findings, driver)
        judge_compiler(findings, driver, libraries.get("nvrtc", {}))
    judge_linker(findings, libraries.get("nvrtc", {}), libraries.get("nvJitLink", {}))


def judge_backend(findings, driver, backend):
    error, setting = backend.get("error"), backend.get("setting")
    if not error:
        if backend.get("devices") == []:
            findings.problem("the driver has no device", REMEDIES["CUDA_ERROR_NO_DEVICE"])
        return
    if setting not in ("driver", "emulator", "auto"):
        remedy = "set HALFWARP_BACKEND to driver, emulator or auto"
    elif setting == "emulator":
        remedy = f"{REINSTALL}, or {REBUILD}"
    elif "error_name" in backend:
        remedy = REMEDIES.get(backend["error_name"], "check the output of nvidia-smi and dmesg")
    elif driver.get("has_device_node") or driver.get("kernel_module"):
        remedy = (
            "the kernel module runs, but its library libcuda.so.1 is not on the search path: "
            "install it (in a container: NVIDIA_DRIVER_CAPABILITIES=compute,utility)"
        )
    else:
        remedy = INSTALL_DRIVER
    findings.problem(error.partition(". Install")[0], remedy)  # this advice is more specific


def judge_driver(findings, driver):
    version = driver["version"]
    if numbers(version) < OLDEST_DRIVER:
        findings.problem(f"the driver supports only CUDA {version}: too old", INSTALL_DRIVER)
    elif numbers(version)[0] < numbers(driver["api_version"])[0]:
        findings.warning(
            f"the driver supports CUDA {version}, but the API is CUDA {driver['api_version']}: "
            f"{len(driver['missing_functions'])} of {driver['functions']} functions are missing, "
            "and functions of cuda.bindings.runtime may return cudaErrorInsufficientDriver",
            "update the driver if one of them is needed",
        )
    module, release = driver.get("kernel_module"), driver.get("release")
    # Compat packages intentionally install a library newer than the kernel module.
    if module and release and "compat" not in driver["library"] and module != release:
        findings.problem(
            f"the kernel module is of release {module}, the driver's library of {release}",
            "restart the machine, so that the kernel module of the library's release is loaded",
        )


def judge_compiler(findings, driver, nvrtc):
    compiler, supported = nvrtc.get("version"), driver["version"]
    if compiler and numbers(compiler) > numbers(supported):
        findings.warning(
            f"NVRTC {compiler} is newer than the driver, which supports CUDA {supported}: the "
            "driver may reject its PTX (CUDA_ERROR_UNSUPPORTED_PTX_VERSION)",
            "compile to cubin, update the driver, or "
            f"pip install 'nvidia-cuda-nvrtc=={supported}.*'",
        )


def judge_linker(findings, nvrtc, linker):
    compiler, linker_version = nvrtc.get("version"), linker.get("version")
    if compiler and linker_version and numbers(compiler) > numbers(linker_version):
        findings.warning(
            f"nvJitLink {linker_version} is older than NVRTC {compiler} and cannot link its output",
            f"pip install 'nvidia-nvjitlink=={compiler}.*'",
        )


def numbers(version):
    """Convert ``"13.5"`` to ``(13, 5)``."""
    return tuple(map(int, version.split(".")[:2]))
