# SPDX-License-Identifier: Apache-2.0
"""Public names of each class: ours must include all of the reference's."""

import cuda.core
from cuda.bindings import driver
from cuda.core import Device, DeviceMemoryResource, ObjectCode, Program
from cuda.core import typing as core_typing
from describing import Names

device = Device(0)
device.set_current()
kernel = ObjectCode.from_ptx(
    b".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry f() { ret; }\n"
).get_kernel("f")


def public(thing):
    return Names(name for name in dir(thing) if not name.startswith("_"))


def parameters(function):
    import inspect

    return Names(inspect.signature(function).parameters)


CASES = [
    lambda: public(cuda.core),
    lambda: Names(core_typing.__all__),
    lambda: public(cuda.core.Buffer),
    lambda: public(cuda.core.Context),
    lambda: public(cuda.core.Device),
    lambda: public(cuda.core.DeviceMemoryResource),
    lambda: public(cuda.core.DeviceMemoryResourceOptions),
    lambda: public(cuda.core.Event),
    lambda: public(cuda.core.EventOptions),
    lambda: public(cuda.core.Kernel),
    lambda: public(cuda.core.LaunchConfig),
    lambda: public(cuda.core.LegacyPinnedMemoryResource),
    lambda: public(cuda.core.MemoryResource),
    lambda: public(cuda.core.ObjectCode),
    lambda: public(cuda.core.Program),
    lambda: public(cuda.core.ProgramOptions),
    lambda: public(cuda.core.Stream),
    lambda: public(cuda.core.StreamOptions),
    lambda: public(device.properties),
    lambda: public(kernel.attributes),
    lambda: public(kernel.occupancy),
    lambda: public(DeviceMemoryResource(0).attributes),
    lambda: parameters(Program.compile),
    lambda: parameters(Device.create_stream),
    lambda: parameters(Device.allocate),
    lambda: parameters(ObjectCode.from_ptx),
    lambda: parameters(cuda.core.Buffer.from_handle),
    lambda: parameters(cuda.core.Buffer.copy_to),
    lambda: public(driver.CUlaunchConfig),
    lambda: public(driver.CUlaunchAttributeValue),
    lambda: public(driver.CUmemPoolProps),
    lambda: public(driver.CUipcMemHandle),
    lambda: public(driver.CUstream),
]
