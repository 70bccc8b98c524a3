# SPDX-License-Identifier: Apache-2.0
"""Launching a kernel through cuda.core."""

from rows import PYTHON_SIDE, Struct, row


def addresses(count):
    """Return addresses as `data_ptr()` does: ints that CPython stores in two digits."""
    return [0x7F1200000000 + 512 * i for i in range(count)]


def mixed(buffer, count):
    """Return `count` times four typical values, without adjacent values of the same kind."""
    return [v for i in range(count) for v in (buffer, addresses(count)[i], i, 0.5 + i)]


def launching(world, kernel_name, *args):
    """Return a call that launches with `args` as a fixed argument list."""
    from cuda.core import launch

    stream, config, kernel = world.stream, world.config, world.kernel(kernel_name)
    if len(args) == 4:
        a, b, c, d = args
        return lambda: launch(stream, config, kernel, a, b, c, d)
    if args:
        return lambda: launch(stream, config, kernel, *args)
    return lambda: launch(stream, config, kernel)


@row("launch, no argument", target=70, twin="launch_0")
def no_argument(world):
    return launching(world, "k0")


@row("launch, 4 scalars", target=90, twin="launch_4")
def four_scalars(world):
    import numpy as np

    return launching(world, "k4", np.float32(1), 2.0, np.int32(3), 4)


@row("launch, 4 with 2 Buffers", target=90, twin="launch_4")
def two_buffers(world):
    import numpy as np

    return launching(world, "k4_buffers", np.float32(1), world.buffer, world.other, 4)


@row("launch, 16 addresses", target=200, twin="launch_16")
def sixteen_addresses(world):
    return launching(world, "k16", *addresses(16))


@row("launch, 16 mixed", target=200, twin="launch_16")
def sixteen_mixed(world):
    return launching(world, "k16_mixed", *mixed(world.buffer, 4))


@row("launch, 16 Buffers", target=220, twin="launch_16")
def sixteen_buffers(world):
    return launching(world, "k16_buffers", *[world.buffer, world.other] * 8)


@row("launch, 64 Buffers", target=800, twin="launch_64", backends=PYTHON_SIDE)
def sixty_four_buffers(world):
    return launching(world, "k64_buffers", *[world.buffer, world.other] * 32)


@row("launch, 64 addresses", target=600, twin="launch_64")
def sixty_four_addresses(world):
    return launching(world, "k64", *addresses(64))


# `launch` of the reference rejects structs.
@row("launch, 4 ctypes structs", target=150, twin="launch_4", ours_only=True, backends=PYTHON_SIDE)
def four_structs(world):
    return launching(world, "k4_structs", *(Struct(i, 0, 1) for i in range(4)))


@row("launch, 4 NumPy structs", target=150, twin="launch_4", ours_only=True, backends=PYTHON_SIDE)
def four_structured_scalars(world):
    import numpy as np

    array = np.zeros(4, [(name, "f8") for name in "xyz"])
    return launching(world, "k4_structs", *(array[i] for i in range(4)))


@row(
    "launch, 4 objects with __cuda_kernel_arg__",
    target=400,
    twin="launch_4",
    ours_only=True,
    backends=PYTHON_SIDE,
)
def four_objects(world):
    class Packed:
        def __cuda_kernel_arg__(self, content=bytes(24)):
            return content

    return launching(world, "k4_structs", *(Packed() for _ in range(4)))


@row("prepared launch", target=60, twin="launch_4", ours_only=True)
def prepared_launch(world):
    prepared = world.kernel("k4").prepare(world.config, 1.0, 2.0, 3, 4)
    stream = world.stream
    return lambda: prepared(stream)


@row("launch with 2 attributes", target=130, twin="launch_4", ours_only=True)
def with_attributes(world):
    from cuda.core import LaunchConfig, launch

    config = LaunchConfig(grid=1, block=1, priority=-1, mem_sync_domain="remote")
    stream, kernel = world.stream, world.kernel("k4")
    return lambda: launch(stream, config, kernel, 1.0, 2.0, 3, 4)


@row("LaunchConfig with 2 attributes", target=3_000, ours_only=True)
def config_with_attributes(world):
    from cuda.core import LaunchConfig

    return lambda: LaunchConfig(grid=1, block=1, priority=-1, mem_sync_domain="remote")


@row("LaunchConfig(grid=1, block=1)", target=90)
def launch_config(world):
    from cuda.core import LaunchConfig

    return lambda: LaunchConfig(grid=1, block=1)
