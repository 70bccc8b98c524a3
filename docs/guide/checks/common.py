# SPDX-License-Identifier: Apache-2.0
"""Compile and launch the kernels of the examples of the checks."""

from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch

device = Device()
device.set_current()
stream = device.create_stream()


def run(source, *arguments, on=stream):
    """Launch the kernel ``k`` with a block of 64 threads."""
    options = ProgramOptions(lineinfo=True, name="k.cu")
    kernel = Program(source, "c++", options).compile("ptx").get_kernel("k")
    launch(on, LaunchConfig(grid=1, block=64), kernel, *arguments)
