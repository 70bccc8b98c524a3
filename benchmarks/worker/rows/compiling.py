# SPDX-License-Identifier: Apache-2.0
"""Compiling from a cache, keys of caches, contexts."""

import atexit
import os
import shutil
import tempfile

from rows import row

SOURCE = 'extern "C" __global__ void k(float* x, float a) { x[threadIdx.x] *= a; }'


def folder():
    made = tempfile.mkdtemp(prefix="halfwarp-cache-")
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


def options():
    from cuda.core import ProgramOptions

    return ProgramOptions(arch="sm_80")


def hit(cache):
    """A compilation whose result the cache has."""
    from cuda.core import Program

    program = Program(SOURCE, "c++", options())
    program.compile("cubin", cache=cache)
    return lambda: program.compile("cubin", cache=cache)


# What a hit in a folder is measured against: it may take 50 microseconds more.
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

    return hit(FileStreamProgramCache(folder()))


@row("compile(cache=) hit, in memory", target=30_000)
def hit_in_memory(world):
    from cuda.core.utils import InMemoryProgramCache

    return hit(InMemoryProgramCache())


@row("make_program_cache_key()", target=15_000)
def key(world):
    from cuda.core.utils import make_program_cache_key

    given = {"code": SOURCE, "code_type": "c++", "options": options(), "target_type": "cubin"}
    return lambda: make_program_cache_key(**given)


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
