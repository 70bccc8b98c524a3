# SPDX-License-Identifier: Apache-2.0
"""Launching a kernel through cuda.core."""

from rows import row


def launching(world, kernel_name, *args):
    """A call that launches, and passes `args` as a caller with a fixed list writes them."""
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


@row("launch, 16 ints", target=260, twin="launch_16")
def sixteen_integers(world):
    return launching(world, "k16", *range(16))


@row("launch, 16 Buffers", target=220, twin="launch_16")
def sixteen_buffers(world):
    return launching(world, "k16_buffers", *[world.buffer, world.other] * 8)


@row("launch, 64 ints", target=760)
def sixty_four_integers(world):
    return launching(world, "k64", *range(64))


@row("prepared launch", target=60, twin="launch_4", ours_only=True)
def prepared_launch(world):
    prepared = world.kernel("k4").prepare(world.config, 1.0, 2.0, 3, 4)
    stream = world.stream
    return lambda: prepared(stream)


@row("LaunchConfig(grid=1, block=1)", target=90)
def launch_config(world):
    from cuda.core import LaunchConfig

    return lambda: LaunchConfig(grid=1, block=1)
