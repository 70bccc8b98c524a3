# SPDX-License-Identifier: Apache-2.0
"""Mistakes in the use of the management library that a type checker must find."""

from cuda.bindings import nvml


def mistakes(device: int) -> None:
    nvml.nvmlInit_v2()  # E: attr-defined
    nvml.init_v2(0)  # E: call-arg
    nvml.device_get_handle_by_index_v2("0")  # E: arg-type
    nvml.device_get_handle_by_index_v2()  # E: call-arg
    nvml.device_get_name("GPU 0")  # E: arg-type
    nvml.device_get_name(device).decode()  # E: attr-defined
    nvml.device_get_count_v2()[0]  # E: index
    nvml.device_get_clock_info(device, "graphics")  # E: arg-type
    nvml.device_get_clock_info(device)  # E: call-arg
    nvml.ClockType.GRAPHIC  # E: attr-defined
    nvml.device_get_memory_info_v2(device).utilized  # E: attr-defined
    nvml.device_get_memory_info_v2(device)["used"]  # E: index
    nvml.Return.NVML_SUCCESS  # E: attr-defined
    nvml.NVMLError  # E: attr-defined
