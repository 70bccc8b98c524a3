# SPDX-License-Identifier: Apache-2.0
"""cuda.core.system over the emulated NVML, which both implementations find."""

import os

from cuda.core import Device as CudaDevice
from cuda.core import system
from cuda.core.system import typing
from cuda.core.system._device import BAR1MemoryInfo, ClockInfo, PciInfo, Temperature

device = system.Device(index=0)
clock = device.get_clock("sm")
UUID, ADDRESS = device.uuid, device.pci_bus_id


def public(thing):
    return [name for name in dir(thing) if not name.startswith("_")]


def every_value():
    """Return the value of each member, or the class of its error."""
    values = {}
    for name in public(system.Device):
        if isinstance(getattr(system.Device, name), type(ClockInfo.get_max_mhz)):
            continue
        try:
            value = getattr(device, name)
        except Exception as error:
            value = type(error).__name__
        plain = (str, int, bool, list, tuple, type(None))
        values[name] = value if isinstance(value, plain) else type(value).__name__
    for name in ("uuid", "pci_bus_id", "uuid_without_prefix", "compute_running_processes"):
        values.pop(name)
    return {name: value for name, value in values.items() if "bound method" not in str(value)}


def members(thing):
    """Return an object's members, as numbers and texts."""
    return {name: getattr(thing, name) for name in public(thing)}


def settled(thing):
    """Return the members that are constant while the device works."""
    return {name: v for name, v in members(thing).items() if not name.endswith("_throughput")}


def enum_values():
    return {
        name: {member.name: member.value for member in getattr(typing, name)}
        for name in sorted(typing.__all__)
        if name != "FieldId"
    }


def wait_for(events):
    return events.wait(timeout_ms=5)


def set_on(thing, name, value):
    setattr(thing, name, value)
    return getattr(thing, name)


def fields(*ids):
    return device.get_field_values(list(ids))


CASES = [
    lambda: sorted(system.__all__),
    lambda: public(system.Device),
    lambda: sorted(typing.__all__),
    enum_values,
    every_value,
    lambda: system.get_num_devices(),
    lambda: system.get_user_mode_driver_version(),
    lambda: system.get_kernel_mode_driver_version(),
    lambda: system.get_nvml_version(),
    lambda: system.get_driver_branch(),
    lambda: system.get_process_name(os.getpid()) != "",
    lambda: system.get_process_name(2**31 - 5),
    lambda: system.get_process_name(-1),
    lambda: system.get_process_name("1"),
    lambda: system.CUDA_BINDINGS_NVML_IS_COMPATIBLE,
    lambda: system.Device(),
    lambda: system.Device(0),
    lambda: system.Device(index=0, uuid=UUID),
    lambda: system.Device(index=None),
    lambda: system.Device(index=77),
    lambda: system.Device(index=-1),
    lambda: system.Device(index="0"),
    lambda: system.Device(index=0.0).index,
    lambda: system.Device(uuid=UUID).index,
    lambda: system.Device(uuid=UUID.encode()).index,
    lambda: system.Device(uuid=UUID[4:]).index,
    lambda: system.Device(uuid="nothing"),
    lambda: system.Device(uuid=0),
    lambda: system.Device(pci_bus_id=ADDRESS).index,
    lambda: system.Device(pci_bus_id=ADDRESS.encode()).index,
    lambda: system.Device(pci_bus_id="nothing"),
    lambda: system.Device(pci_bus_id="0000:99:00.0"),
    lambda: system.Device(index=0) == device,
    lambda: system.Device.get_device_count(),
    lambda: [each.index for each in system.Device.get_all_devices()],
    lambda: [each.index for each in system.Device.get_all_devices_with_cpu_affinity(0)],
    lambda: device.to_cuda_device() is CudaDevice(0),
    lambda: CudaDevice(0).to_system_device().index,
    lambda: set_on(device, "name", "x"),
    lambda: set_on(device, "something", "x"),
    lambda: members(device.attributes),
    lambda: members(device.memory_info),
    lambda: members(device.bar1_memory_info),
    lambda: members(device.utilization),
    lambda: members(device.cooler),
    lambda: members(device.repair_status),
    lambda: settled(device.pci_info),
    lambda: public(device.temperature),
    lambda: public(device.mig),
    lambda: public(device.inforom),
    lambda: public(device.get_fan()),
    lambda: public(clock),
    lambda: device.temperature.get_sensor(),
    lambda: device.temperature.margin,
    lambda: device.temperature.get_threshold("slowdown"),
    lambda: device.temperature.get_threshold(typing.TemperatureThresholds.ACOUSTIC_MIN),
    lambda: device.temperature.get_threshold("nothing"),
    lambda: members(device.temperature.get_thermal_settings("gpu")[0]),
    lambda: len(device.temperature.get_thermal_settings("memory")),
    lambda: device.temperature.get_thermal_settings("gpu")[1],
    lambda: device.temperature.get_thermal_settings("gpu")[-1],
    lambda: device.temperature.get_thermal_settings("gpu")["0"],
    lambda: clock.get_current_mhz(),
    lambda: clock.get_current_mhz("customer_boost_max"),
    lambda: clock.get_current_mhz(clock_id="nothing"),
    lambda: clock.get_max_mhz(),
    lambda: clock.get_max_customer_boost_mhz(),
    lambda: clock.get_min_max_clock_of_pstate_mhz(0),
    lambda: clock.get_min_max_clock_of_pstate_mhz(3),
    lambda: clock.get_min_max_clock_of_pstate_mhz(16),
    lambda: members(clock.get_offsets(pstate=0)),
    lambda: clock.get_offsets(-1),
    lambda: device.get_clock("nothing"),
    lambda: device.get_clock(None),
    lambda: device.get_fan(1),
    lambda: device.get_fan("0"),
    lambda: members(device.get_fan(fan=0))["min_max_speed"],
    lambda: device.get_fan().control_policy,
    lambda: device.get_fan().speed_rpm,
    lambda: device.get_cpu_affinity() == sorted(os.sched_getaffinity(0)),
    lambda: device.get_cpu_affinity("nothing"),
    lambda: device.get_memory_affinity(scope="socket"),
    lambda: device.set_cpu_affinity(),
    lambda: device.clear_cpu_affinity(),
    lambda: fields(82, 186, 193).get_all_values(),
    lambda: len(fields(82, 1)),
    lambda: fields(82, 1)[0].value,
    lambda: fields(82, 1)[1].value,
    lambda: fields(82, 1)[-2].value,
    lambda: fields(82, 1)[2],
    lambda: fields(82, 1).validate(),
    lambda: fields(82, 1).get_all_values(),
    lambda: [each.field_id for each in fields(82, 91)],
    lambda: fields((82, 3))[0].scope_id,
    lambda: fields(None),
    lambda: len(fields()),
    lambda: device.get_field_values("82"),
    lambda: device.get_field_values(82),
    lambda: device.inforom.get_version("ecc"),
    lambda: device.inforom.get_version("den"),
    lambda: device.inforom.get_version("nothing"),
    lambda: device.inforom.image_version,
    lambda: device.inforom.configuration_checksum,
    lambda: device.inforom.validate(),
    lambda: device.inforom.board_part_number,
    lambda: len(device.inforom.bbx_flush_time),
    lambda: [members(each) for each in map(device.dynamic_pstates_info.__getitem__, range(8))],
    lambda: device.dynamic_pstates_info[8],
    lambda: len(device.dynamic_pstates_info),
    lambda: device.mig.mode,
    lambda: device.mig.is_mig_device,
    lambda: device.mig.device_count,
    lambda: device.mig.parent,
    lambda: device.mig.get_device_by_index(0),
    lambda: list(device.mig.get_all_devices()),
    lambda: device.get_nvlink_count(),
    lambda: list(device.get_nvlinks()),
    lambda: device.get_nvlink(0),
    lambda: system.NvlinkInfo.max_links,
    lambda: system.NvlinkInfo(),
    lambda: device.get_supported_event_types(),
    lambda: wait_for(device.register_events("pstate")),
    lambda: wait_for(device.register_events(["pstate", typing.EventType.CLOCK])),
    lambda: device.register_events("nothing"),
    lambda: device.register_events(["nothing"]),
    lambda: device.register_events(4),
    lambda: device.register_events("pstate").wait(-1),
    lambda: device.register_events("pstate").wait("1"),
    lambda: wait_for(system.register_events(["bind", "unbind"])),
    lambda: system.register_events("nothing"),
    lambda: system.register_events(4),
    lambda: [each.index for each in device.get_topology_nearest_gpus("hostbridge")],
    lambda: list(device.get_topology_nearest_gpus("nothing")),
    lambda: system.get_topology_common_ancestor(device, device),
    lambda: system.get_topology_common_ancestor(device, None),
    lambda: system.get_p2p_status(device, device, "read"),
    lambda: system.get_p2p_status(device, device, "nothing"),
    lambda: system.get_p2p_status(None, device, "read"),
    lambda: system.get_p2p_status(device1=device, device2=device, index="atomics"),
    lambda: ClockInfo(),
    lambda: Temperature(),
    lambda: PciInfo(),
    lambda: public(BAR1MemoryInfo),
    lambda: public(PciInfo),
    lambda: system.driver_version,
    lambda: system.nothing,
]
