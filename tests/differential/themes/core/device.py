# SPDX-License-Identifier: Apache-2.0
"""Device: identity, attributes, properties, calls that need set_current."""

import pickle

import numpy as np
from cuda.bindings import driver
from cuda.core import Context, Device, MemoryResource

device = Device(0)


def every_property():
    names = [name for name in dir(device.properties) if not name.startswith("_")]
    return {name: getattr(device.properties, name) for name in names}


def types_of_properties():
    names = [name for name in dir(device.properties) if not name.startswith("_")]
    return {name: type(getattr(device.properties, name)) for name in names}


def set_current_answers_the_former_context():
    device.set_current()
    former = device.context
    return device.set_current(former) is former, device.set_current()


def uninitialized():
    import threading

    texts = []

    def use(operation):
        try:
            operation(Device(0))
        except Exception as error:
            texts.append(f"{type(error).__name__}: {error}".replace(" [emulated]", ""))

    for operation in (
        lambda d: d.context,
        lambda d: d.create_stream(),
        lambda d: d.create_event(),
        lambda d: d.sync(),
        lambda d: d.allocate(8, stream=d.default_stream),
    ):
        thread = threading.Thread(target=use, args=(operation,))
        thread.start()
        thread.join()
    return texts


CASES = [
    every_property,
    types_of_properties,
    uninitialized,
    lambda: device.set_current(),
    set_current_answers_the_former_context,
    lambda: Device(0) is Device(0),
    lambda: Device(device) is device,
    lambda: Device() is device,
    lambda: Device(False) is device,
    lambda: Device(np.int64(0)) is device,
    lambda: Device(-1),
    lambda: Device(1),
    lambda: Device("0"),
    lambda: Device(0.0),
    lambda: Device(2**70),
    lambda: Device([]),
    lambda: Device(device_id=0) is device,
    lambda: Device.get_all_devices() == (device,),
    lambda: type(Device.get_all_devices()),
    lambda: int(device),
    lambda: device.device_id,
    lambda: device.name,
    lambda: device.uuid,
    lambda: device.pci_bus_id,
    lambda: device.compute_capability,
    lambda: device.compute_capability == (9, 0),
    lambda: device.compute_capability.major,
    lambda: device.arch,
    lambda: repr(device),
    lambda: hash(device) == hash(device.uuid),
    lambda: device == 0,
    lambda: device != Device(0),
    lambda: device.properties is device.properties,
    lambda: device.memory_resource is device.memory_resource,
    lambda: device.default_stream is device.default_stream,
    lambda: type(device.memory_resource),
    lambda: type(device.properties),
    lambda: type(device.context),
    lambda: isinstance(device.context, Context),
    lambda: isinstance(device.memory_resource, MemoryResource),
    lambda: setattr(device, "memory_resource", 3),
    lambda: setattr(device, "memory_resource", None),
    lambda: setattr(device, "name", "x"),
    lambda: setattr(device, "anything", "x"),
    lambda: device.can_access_peer(0),
    lambda: device.can_access_peer(device),
    lambda: device.can_access_peer(3),
    lambda: device.can_access_peer("0"),
    lambda: pickle.loads(pickle.dumps(device)) is device,
    lambda: device.set_current(1),
    lambda: device.set_current("x"),
    lambda: device.set_current(None),
    lambda: device.sync(),
    lambda: device.create_stream(3),
    lambda: device.create_stream(None, {"nonblocking": False}).is_nonblocking,
    lambda: device.create_stream(options=3),
    lambda: device.create_stream(options={"unknown": 1}),
    lambda: device.create_event(options=3),
    lambda: device.create_event(options={"ipc_enabled": True}),
    lambda: device.create_event({"timing_enabled": True}).is_timing_enabled,
    lambda: device.allocate(16, stream=None),
    lambda: device.allocate(16, stream=3),
    lambda: device.allocate(16, stream=device.default_stream).size,
    lambda: device.allocate(0, stream=device.default_stream).size,
    lambda: device.allocate(-1, stream=device.default_stream),
    lambda: device.allocate("16", stream=device.default_stream),
    lambda: device.allocate(16),
    lambda: driver.cuCtxGetDevice()[0],
]
