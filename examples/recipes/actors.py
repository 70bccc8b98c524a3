# SPDX-License-Identifier: Apache-2.0
"""A Dask or Ray actor per device, and more data than the memory of a device.

Each actor owns a device in its own process, and retains stream, kernel and a limited resource
between calls. Only chunk numbers and results are transferred. `actors.py ray` uses Ray, otherwise
Dask is used. Prints the number of chunks per device, and the sum.
"""

import sys
from importlib.util import find_spec

import numpy as np
from cuda.core import (
    Device,
    LaunchConfig,
    LimitingMemoryResource,
    Program,
    ProgramOptions,
    emulation,
    launch,
)

SOURCE = """
extern "C" __global__ void sum_squares(const float* x, size_t n, double* sum) {
    double mine = 0;
    size_t first = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    for (size_t i = first; i < n; i += blockDim.x * gridDim.x) mine += double(x[i]) * x[i];
    atomicAdd(sum, mine);
}
"""
CHUNK = 1 << 18  # numbers; 1 MiB
LIMIT = 3 << 20  # bytes that an actor may allocate on its device
ONE_EACH = {"threads_per_worker": 1, "dashboard_address": None}


class DeviceActor:
    """Owns a device. Its methods run one at a time in one thread of the worker."""

    def __init__(self, number: int):
        self.device = Device(number)
        self.device.set_current()
        self.stream = self.device.create_stream()
        self.memory = LimitingMemoryResource(self.device.memory_resource, LIMIT)
        options = ProgramOptions(arch=f"sm_{self.device.arch}")
        self.kernel = Program(SOURCE, "c++", options).compile("cubin").get_kernel("sum_squares")
        self.chunks = 0

    def sum_squares(self, chunk: int) -> float:
        self.device.set_current()
        numbers = np.full(CHUNK, chunk % 7, np.float32)  # a real program reads a file
        result = np.zeros(1)
        with self.memory.allocate(numbers.nbytes, stream=self.stream) as data:
            with self.memory.allocate(8, stream=self.stream) as total:
                data.copy_from(numbers, stream=self.stream)
                total.fill(0, stream=self.stream)
                config = LaunchConfig(grid=8, block=256)
                launch(self.stream, config, self.kernel, data, CHUNK, total)
                total.copy_to(result, stream=self.stream)
                self.stream.sync()
        self.chunks += 1
        return float(result[0])

    def report(self) -> str:
        return f"device {self.device.device_id}: {self.chunks} chunks"


def with_dask(count: int, chunks: int) -> tuple[float, list[str]]:
    from distributed import Client, LocalCluster

    with LocalCluster(n_workers=count, **ONE_EACH) as cluster:
        with Client(cluster) as client:
            places = client.scheduler_info(n_workers=-1)["workers"]
            actors = [
                client.submit(DeviceActor, number, actor=True, workers=[place]).result()
                for number, place in enumerate(places)
            ]
            turns = [actors[i % count].sum_squares(i) for i in range(chunks)]
            total = sum(turn.result() for turn in turns)
            return total, [actor.report().result() for actor in actors]


def with_ray(count: int, chunks: int) -> tuple[float, list[str]]:
    import ray

    ray.init(num_gpus=count, num_cpus=count, include_dashboard=False, log_to_driver=False)
    Actor = ray.remote(num_gpus=1)(DeviceActor)  # each actor sees only its GPU, as device 0
    is_hidden = not emulation.is_active()
    actors = [Actor.remote(0 if is_hidden else number) for number in range(count)]
    total = sum(ray.get([actors[i % count].sum_squares.remote(i) for i in range(chunks)]))
    reports = ray.get([actor.report.remote() for actor in actors])
    ray.shutdown()
    return total, reports


def main(library: str = "dask", chunks: int = 12) -> int:
    package, run = {"dask": ("distributed", with_dask), "ray": ("ray", with_ray)}[library]
    if not find_spec(package):
        print(f"nothing to do: {package} is not installed")
        return 0
    total, reports = run(len(Device.get_all_devices()), chunks)
    expected = CHUNK * sum((i % 7) ** 2 for i in range(chunks))
    print(*reports, sep="\n")
    print(f"{chunks * CHUNK * 4 >> 20} MiB in all, at most {LIMIT >> 20} on a device at a time")
    print(f"sum {total:.0f}: {'correct' if total == expected else 'WRONG'}")
    return 0 if total == expected else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
