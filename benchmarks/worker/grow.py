# SPDX-License-Identifier: Apache-2.0
"""Growth of the cost of one operation with the number of objects, on any `cuda.core`.

Started by `python -m benchmarks --growth` in each environment; prints one JSON line per point.
"""

import gc
import json
import os
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from rows import call
from timing import least

ARGUMENTS = (0, 1, 2, 4, 8, 16, 32, 64)
THREADS = (1, 2, 4, 8, 16)
POWERS = (10, 100, 1_000, 10_000)
LAUNCHES = 400_000  # of all threads together; fewer would measure the start of the threads


@dataclass(frozen=True)
class Sweep:
    """A measurement at each of `points`; `measure(world, point)` returns it in `unit`."""

    x: str
    unit: str
    points: tuple
    measure: Callable
    repeats: int = 3  # the result is the minimum


class World:
    """Device, stream, and a module with a kernel for each number of arguments."""

    def __init__(self):
        from cuda.core import Device, LaunchConfig, Program, ProgramOptions

        self.device = Device(0)
        self.device.set_current()
        self.stream = self.device.create_stream()
        self.config = LaunchConfig(grid=1, block=1)
        parameters = [f"long long a{i}" for i in range(max(ARGUMENTS))]
        source = "\n".join(
            f'extern "C" __global__ void k{n}({", ".join(parameters[:n])}) {{}}' for n in ARGUMENTS
        )
        options = ProgramOptions(arch=f"sm_{self.device.arch}")
        self.module = Program(source, "c++", options).compile("cubin")

    def kernel(self, arguments):
        return self.module.get_kernel(f"k{arguments}")


def seconds(function, *arguments):
    start = time.perf_counter()
    result = function(*arguments)
    return time.perf_counter() - start, result


def resident_bytes():
    """Return the resident memory of this process."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def bytes_of_each(create, count):
    """Return the growth of the process per object of `count` that `create(count)` returns.

    Only for counts that need much more memory than the process has free.
    """
    del_first = create(10)  # one-time costs of the first object
    gc.collect()
    before = resident_bytes()
    objects = create(count)
    grown = resident_bytes() - before
    del objects, del_first
    return grown / count


# --- the sweeps ----------------------------------------------------------------------------------


def launch_with(world, count):
    from cuda.core import launch

    arguments = (world.stream, world.config, world.kernel(count), *[12345] * count)
    whole, empty = least(call("launch(*arguments)", launch=launch, arguments=arguments))
    return whole - empty


def launch_from(world, count):
    """Return nanoseconds per launch over all threads, each with its own stream."""
    from cuda.core import launch

    config, kernel = world.config, world.kernel(4)
    ready, each = threading.Barrier(count), range(LAUNCHES // count)
    starts, ends = [], []

    def work(stream):
        world.device.set_current()
        ready.wait()
        starts.append(time.perf_counter_ns())
        for _ in each:
            launch(stream, config, kernel, 1, 2, 3, 4)
        ends.append(time.perf_counter_ns())
        stream.sync()

    streams = [world.device.create_stream() for _ in range(count)]
    threads = [threading.Thread(target=work, args=(stream,)) for stream in streams]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return (max(ends) - min(starts)) / (len(each) * count)


def buffers(world, count):
    allocate, stream = world.device.memory_resource.allocate, world.stream
    return [allocate(256, stream=stream) for _ in range(count)]


def close_all(objects):
    for one in objects:
        one.close()


def allocate_beside(world, count):
    """Time allocating and closing another Buffer while `count` are alive."""
    live_buffers = buffers(world, count)
    allocate, stream = world.device.memory_resource.allocate, world.stream
    whole, empty = least(call("allocate(256, stream=s).close()", allocate=allocate, s=stream), 20)
    close_all(live_buffers)
    return whole - empty


def make_buffers(world, count):
    elapsed, created = seconds(buffers, world, count)
    close_all(created)
    return elapsed * 1e9 / count


def bytes_of_buffers(world, count):
    return bytes_of_each(lambda n: buffers(world, n), count)


def modules(world, count):
    """Load modules, each with its kernel."""
    from cuda.core import ObjectCode

    load, image = ObjectCode.from_cubin, world.module.code
    return [load(image).get_kernel("k1") for _ in range(count)]


def load_modules(world, count):
    elapsed, _ = seconds(modules, world, count)
    return elapsed * 1e9 / count


def bytes_of_modules(world, count):
    return bytes_of_each(lambda n: modules(world, n), count)


def chain(world, count):
    from cuda.core.graph import GraphDefinition

    config, kernel = world.config, world.kernel(1)
    definition = node = GraphDefinition()
    for _ in range(count):
        node = node.launch(config, kernel, 1)
    return definition


def build_graph(world, count):
    elapsed, _ = seconds(lambda: chain(world, count).instantiate())
    return elapsed * 1e9 / count


def bytes_of_nodes(world, count):
    return bytes_of_each(lambda n: chain(world, n), count)


SWEEPS = {
    "launch": Sweep("arguments", "ns", ARGUMENTS, launch_with, 1),
    "launches of several threads": Sweep("threads", "ns a launch", THREADS, launch_from),
    "allocate and close": Sweep("live buffers", "ns", (*POWERS, 100_000), allocate_beside, 1),
    "allocate": Sweep("buffers", "ns each", (*POWERS, 100_000), make_buffers),
    "memory of Buffers": Sweep("buffers", "bytes each", (100_000,), bytes_of_buffers, 1),
    "load a module, get its kernel": Sweep("modules", "ns each", POWERS, load_modules, 4),
    "memory of modules": Sweep("modules", "bytes each", (10_000,), bytes_of_modules, 1),
    "build and instantiate a graph": Sweep("nodes", "ns a node", POWERS, build_graph),
    "memory of a graph": Sweep("nodes", "bytes a node", (100_000,), bytes_of_nodes, 1),
}


def main(names):
    world = World()
    for name in names:
        sweep = SWEEPS[name]
        for point in sweep.points:
            try:
                result = min(sweep.measure(world, point) for _ in range(sweep.repeats))
            except Exception as error:  # continue with the other points
                result = f"{type(error).__name__}: {error}"
            print(json.dumps({"sweep": name, "point": point, "found": result}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
