# SPDX-License-Identifier: Apache-2.0
"""A free on one thread waits for a host function in Python; the main thread goes on meanwhile.

Run as ``python -m tests.core.locks.waiting_free LIBRARY``, where the library is `watch.c`: it makes
the emulator's functions wait for each other as those of a driver do. Says "finished" at the end.
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

    def ways_to_wait(self):
        """Name -> what the main thread does, and nothing else of it may be needed to go on."""
        stream, device, found = self.stream, self.device, self.kernel.occupancy
        attributes = self.kernel.attributes
        one, two = (resource.allocate(64, stream=stream) for resource in self.resources)
        kept = [device.create_event(), device.create_stream(), one, two]
        shared = LaunchConfig(grid=1, block=1, shmem_size=50 * 1024)
        return {
            "create an event": device.create_event,
            "record": lambda: stream.record(self.event),
            "record a new event": stream.record,
            "create a stream": device.create_stream,
            "drop an event": lambda: kept.__delitem__(0),
            "drop a stream": lambda: kept.__delitem__(0),
            "drop a synchronous buffer": lambda: kept.__delitem__(0),
            "drop a pinned buffer": lambda: kept.__delitem__(0),
            "occupancy": lambda: found.max_active_blocks_per_multiprocessor(32, 0),
            "block size": lambda: found.max_potential_block_size(lambda threads: 0, 0),
            "set an attribute": lambda: setattr(attributes, "max_dynamic_shared_size_bytes", 64),
            "launch": lambda: launch(stream, ONE, self.kernel),
            "launch with more shared memory": lambda: launch(stream, shared, self.kernel),
            "wait for a stream": lambda: stream.wait(Stream._per_thread_default()),
            "allocate": lambda: self.resources[0].allocate(64, stream=stream),
            "host function": lambda: stream.launch_host(lambda: None),
        }

    def go_on(self, what):
        """Do something while another thread frees memory, which waits for a host function."""
        begun, armed = threading.Event(), threading.Event()

        def host_function():
            begun.set()
            armed.wait()
            time.sleep(0.05)  # the others are to be inside the driver when it wants the lock
            self.watch.set_busy(False)

        memory = self.resources[0].allocate(64, stream=self.stream)
        self.blocked.launch_host(host_function)
        begun.wait()
        self.watch.set_busy(True)
        armed.set()
        other = threading.Thread(target=memory.close)
        other.start()
        time.sleep(0.01)
        what()
        other.join()
        self.blocked.sync()


def main(library):
    program = Program(library)
    for name, what in program.ways_to_wait().items():
        print(name, flush=True)
        program.go_on(what)
    program.watch.stop()
    print("finished")


if __name__ == "__main__":
    main(sys.argv[1])
