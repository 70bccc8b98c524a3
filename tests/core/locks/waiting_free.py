# SPDX-License-Identifier: Apache-2.0
"""A free on one thread waits for a host function in Python, while the main thread continues.

Run as ``python -m tests.core.locks.waiting_free LIBRARY``, where the library is `watch.c`: it makes
the emulator's functions wait for each other, as a driver's functions do. Prints "finished" at the
end.
"""

import sys
import threading
import time

from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, ObjectCode, Stream, launch
from cuda.core._memory import _SynchronousMemoryResource

from .watch import Watch

PTX = """
.version 8.0
.target sm_75
.address_size 64
.visible .entry kernel() { ret; }
"""
ONE = LaunchConfig(grid=1, block=1)


class Program:
    def __init__(self, library):
        self.device = Device(0)
        self.device.set_current()
        self.blocked, self.stream = self.device.create_stream(), self.device.create_stream()
        self.resources = _SynchronousMemoryResource(self.device), LegacyPinnedMemoryResource()
        self.kernel = ObjectCode.from_ptx(PTX).get_kernel("kernel")
        launch(self.stream, ONE, self.kernel)
        self.event = self.stream.record()
        self.watch = Watch(library)

    def operations(self):
        """Return a dict of the main thread's operations that must not wait for another thread."""
        stream, device, occupancy = self.stream, self.device, self.kernel.occupancy
        attributes = self.kernel.attributes
        synchronous, pinned = (resource.allocate(64, stream=stream) for resource in self.resources)
        objects = [device.create_event(), device.create_stream(), synchronous, pinned]
        shared = LaunchConfig(grid=1, block=1, shmem_size=50 * 1024)
        return {
            "create an event": device.create_event,
            "record": lambda: stream.record(self.event),
            "record a new event": stream.record,
            "create a stream": device.create_stream,
            "drop an event": lambda: objects.__delitem__(0),
            "drop a stream": lambda: objects.__delitem__(0),
            "drop a synchronous buffer": lambda: objects.__delitem__(0),
            "drop a pinned buffer": lambda: objects.__delitem__(0),
            "occupancy": lambda: occupancy.max_active_blocks_per_multiprocessor(32, 0),
            "block size": lambda: occupancy.max_potential_block_size(lambda threads: 0, 0),
            "set an attribute": lambda: setattr(attributes, "max_dynamic_shared_size_bytes", 64),
            "launch": lambda: launch(stream, ONE, self.kernel),
            "launch with more shared memory": lambda: launch(stream, shared, self.kernel),
            "wait for a stream": lambda: stream.wait(Stream._per_thread_default()),
            "allocate": lambda: self.resources[0].allocate(64, stream=stream),
            "host function": lambda: stream.launch_host(lambda: None),
        }

    def run_during_free(self, operation):
        """Run an operation while another thread's free waits for a host function."""
        entered, armed = threading.Event(), threading.Event()

        def host_function():
            entered.set()
            armed.wait()
            time.sleep(0.05)  # lets the other threads enter the driver first
            self.watch.set_busy(False)

        memory = self.resources[0].allocate(64, stream=self.stream)
        self.blocked.launch_host(host_function)
        entered.wait()
        self.watch.set_busy(True)
        armed.set()
        other = threading.Thread(target=memory.close)
        other.start()
        time.sleep(0.01)
        operation()
        other.join()
        self.blocked.sync()


def main(library):
    program = Program(library)
    for name, operation in program.operations().items():
        print(name, flush=True)
        program.run_during_free(operation)
    program.watch.stop()
    print("finished")


if __name__ == "__main__":
    main(sys.argv[1])
