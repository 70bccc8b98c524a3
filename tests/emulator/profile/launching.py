# SPDX-License-Identifier: Apache-2.0
"""Compiles kernels with line information, and launches them in a profile."""

from cuda.core import (
    Device,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    Program,
    ProgramOptions,
    emulation,
    launch,
)


def compiled(source, path="kernel.cu", name="kernel"):
    """Return a kernel. Its lines belong to a path, which may not exist."""
    options = ProgramOptions(name=str(path), arch="sm_90", lineinfo=True)
    return Program(source, "c++", options).compile("ptx").get_kernel(name)


def launch_with_arrays(kernel, grid=2, block=128, elements=1 << 16, shared=0, launches=1):
    """Launch with three arrays of zeros."""
    device = Device()
    device.set_current()
    memory = LegacyPinnedMemoryResource()
    config = LaunchConfig(grid=grid, block=block, shmem_size=shared)
    with device.create_stream() as stream:
        arrays = [memory.allocate(32 * elements) for _ in range(3)]
        for each in arrays:
            each.fill(0, stream=stream)
        for _ in range(launches):
            launch(stream, config, kernel, *arrays)
        stream.sync()


def run(kernel, per_launch=False, **options):
    """Launch with three arrays of zeros; return the profile."""
    with emulation.profile(per_launch=per_launch) as profile:
        launch_with_arrays(kernel, **options)
    return profile
