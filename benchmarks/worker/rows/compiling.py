# SPDX-License-Identifier: Apache-2.0
"""Compilation with caches, cache keys, contexts."""

import atexit
import os
import shutil
import tempfile
import time

from rows import row

SOURCE = 'extern "C" __global__ void k(float* x, float a) { x[threadIdx.x] *= a; }'


def folder():
    path = tempfile.mkdtemp(prefix="halfwarp-cache-")
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return path


def options():
    from cuda.core import ProgramOptions

    return ProgramOptions(arch="sm_80")


def hit(cache):
    """Return a compilation whose result is in the cache."""
    from cuda.core import Program

    program = Program(SOURCE, "c++", options())
    program.compile("cubin", cache=cache)
    return lambda: program.compile("cubin", cache=cache)


# The baseline of a hit in a folder, which may take 50 microseconds more.
@row("read a file of 4 KiB", target=20_000, ours_only=True)
def read(world):
    path = os.path.join(folder(), "file")
    with open(path, "wb") as file:
        file.write(bytes(4096))

    def read():
        with open(path, "rb") as file:
            return file.read()

    return read


@row("compile(cache=) hit, in a folder", target=70_000)
def hit_in_a_folder(world):
    from cuda.core.utils import FileStreamProgramCache

    path = folder()
    repeated = hit(FileStreamProgramCache(path))
    for place, _, names in os.walk(path):  # files that a process finds are minutes old
        for name in names:
            os.utime(os.path.join(place, name), (time.time() - 60,) * 2)
    return repeated


@row("compile(cache=) hit, in memory", target=30_000)
def hit_in_memory(world):
    from cuda.core.utils import InMemoryProgramCache

    return hit(InMemoryProgramCache())


@row("make_program_cache_key()", target=15_000)
def key(world):
    from cuda.core.utils import make_program_cache_key

    arguments = {"code": SOURCE, "code_type": "c++", "options": options(), "target_type": "cubin"}
    return lambda: make_program_cache_key(**arguments)


@row("stream.context", target=60)
def stream_context(world):
    stream = world.stream
    return lambda: stream.context


@row("set_current(context)", target=250)
def set_current_context(world):
    device, context = world.device, world.stream.context
    return lambda: device.set_current(context)


@row("LinkerOptions.as_bytes()", target=1_500)
def linker_options(world):
    from cuda.core import LinkerOptions

    options = LinkerOptions(arch="sm_80", lineinfo=True)
    return lambda: options.as_bytes()
