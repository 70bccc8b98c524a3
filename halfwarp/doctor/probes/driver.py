# SPDX-License-Identifier: Apache-2.0
"""The CUDA driver of this machine: library, kernel module, and functions that it lacks."""

import re
from pathlib import Path

from halfwarp.doctor.places import first_line, mapped_file, searched

KERNEL_MODULE = Path("/proc/driver/nvidia/version")
CONTROL_NODE = Path("/dev/nvidiactl")


def probe(findings):
    facts = findings.facts
    facts |= {
        "is_found": False,
        "kernel_module": kernel_module(),
        "has_device_node": CONTROL_NODE.exists(),
    }
    from cuda.bindings import _low, driver

    facts["api_version"] = version_text(driver.CUDA_VERSION)
    try:
        _, version = driver.cuDriverGetVersion()
    except RuntimeError as error:
        facts |= {"error": first_line(error), "searched": searched(error)}
        return
    library = mapped_file(_low.inspect_function_pointer("driver", "cuDriverGetVersion"))
    names = _low.exported_names("driver")
    absent = [name for name in names if not _low.inspect_function_pointer("driver", name)]
    facts |= {
        "is_found": True,
        "version": version_text(version),
        "library": library,
        "release": release_of(library),
        "functions": len(names),
        "missing_functions": absent,
    }


def version_text(version):
    """Convert 13050 to ``"13.5"``."""
    return f"{version // 1000}.{version % 1000 // 10}"


def release_of(library):
    """Return the driver's release from its library's name: ``"580.159.03"``."""
    match = re.search(r"\.so\.(\d+\.\d+(\.\d+)?)$", library or "")
    return match[1] if match else None


def kernel_module():
    """Return the release of the loaded kernel module."""
    if not KERNEL_MODULE.exists():
        return None
    match = re.search(
        r"(?:Kernel Module|Open Kernel Module).*?(\d+\.\d+(\.\d+)?)\s",
        KERNEL_MODULE.read_text("utf-8", "replace"),
    )
    return match[1] if match else None
