# SPDX-License-Identifier: Apache-2.0
"""Typical code for the management library that type checkers accept; checked, never run."""

from cuda.bindings import nvml


def gpus() -> list[str]:
    nvml.init_v2()
    try:
        driver: str = nvml.system_get_driver_version()
        result = [driver]
        for index in range(nvml.device_get_count_v2()):
            device = nvml.device_get_handle_by_index_v2(index)
            memory = nvml.device_get_memory_info_v2(device)
            used: int = memory.used
            load = nvml.device_get_utilization_rates(device)
            name: str = nvml.device_get_name(device)
            result.append(f"{name} {used / memory.total:.0%} {load.gpu}%")
            clock: int = nvml.device_get_clock_info(device, nvml.ClockType.GRAPHICS)
            result.append(f"{clock} MHz {nvml.device_get_pci_info_v3(device).bus_id}")
    except nvml.NotSupportedError as error:
        result = [f"{error} ({error.status})"]
    except nvml.NvmlError as error:
        if error.status == nvml.Return.ERROR_NOT_FOUND:
            return []
        raise
    finally:
        nvml.shutdown()
    return result


def processes(device: int) -> int:
    running = nvml.device_get_compute_running_processes_v3(device)
    running["pid"] = [0] * len(running)
    assert running.pid.strides and running["pid"] == running[:].pid
    return len(running)


def fields(device: int) -> nvml.FieldValue:
    return nvml.device_get_field_values(device, [nvml.FieldId.DEV_TOTAL_ENERGY_CONSUMPTION])


def structs() -> bytes:
    location = nvml.PciInfo()
    location.bus = 3
    copy = nvml.PciInfo.from_buffer(bytearray(bytes(location)))
    assert copy.ptr != location.ptr
    return bytes(copy)
