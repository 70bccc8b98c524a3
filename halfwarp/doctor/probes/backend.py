# SPDX-License-Identifier: Apache-2.0
"""The backend that executes driver calls in this environment, and its devices."""

import os


def probe(findings):
    from cuda.bindings import _low, driver
    from cuda.core.emulation import library as emulator_library

    library = emulator_library.path()
    facts = findings.facts
    facts |= {
        "setting": os.environ.get("HALFWARP_BACKEND") or "driver",
        "is_set": bool(os.environ.get("HALFWARP_BACKEND")),
        "backend": None,
        "emulator": {"library": str(library), "is_installed": library.exists()},
    }
    try:
        (status,) = driver.cuInit(0)
    except RuntimeError as error:  # no driver, or an invalid setting
        facts["error"] = str(error)
        return
    facts["backend"] = _low.backend()
    if facts["backend"] == "emulator":
        facts["emulator"]["options"] = emulator_library.record("options")
    if int(status) != 0:
        facts["error"] = describe(driver, status)
        facts["error_name"] = status.name
        return
    facts["devices"] = devices(driver)


def describe(driver, status):
    _, text = driver.cuGetErrorString(status)
    return f"cuInit returns {status.name}" + (f": {text.decode()}" if text else "")


def devices(driver):
    """Return a record of each device, without creating a context."""
    _, count = driver.cuDeviceGetCount()
    return [describe_device(driver, ordinal) for ordinal in range(count)]


def describe_device(driver, ordinal):
    attribute = driver.CUdevice_attribute
    _, device = driver.cuDeviceGet(ordinal)
    _, name = driver.cuDeviceGetName(128, device)
    _, memory = driver.cuDeviceTotalMem(device)
    _, bus = driver.cuDeviceGetPCIBusId(16, device)
    capability = [
        driver.cuDeviceGetAttribute(each, device)[1]
        for each in (
            attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
            attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
        )
    ]
    return {
        "ordinal": ordinal,
        "name": name.split(b"\0")[0].decode("utf-8", "replace"),
        "compute_capability": ".".join(map(str, capability)),
        "memory": memory,
        "pci_bus_id": bus.split(b"\0")[0].decode("utf-8", "replace"),
    }
