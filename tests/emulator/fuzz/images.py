# SPDX-License-Identifier: Apache-2.0
"""Loads damaged images on the emulator in child processes; reports those that crash or hang one.

``python images.py --seed 1 --cases 0:100000 --processes 4`` loads each image in every way: by
`ObjectCode`, by the low layer from memory, and from a file. ``--corpus`` names a folder of
`write_corpus`. A mutant depends on the seed and its number, so ``--cases 7:8`` repeats one.
``--with-length`` leaves out the low layer from memory: an address has no length, so the emulator
reads what the headers state, as far as pages are readable. A sanitizer reports that.
"""

import argparse
import json
import os
import random
import struct
import sys
import tempfile
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve()
sys.path.append(str(HERE.parents[3]))

from tests.search import Marker, Search, add_options  # noqa: E402

FAT_HEADER, FAT_ENTRY = "<IHHQ", "<HHIQIIIIIIQQQ"
SOURCE = """
__device__ int table[40];
extern "C" __global__ void add(int* out, int n) { out[threadIdx.x] = table[n % 40] + n; }
"""
NUMBERS = [0, 1, 2, 15, 16, 63, 64, 65, 255, 4096, 65535, (1 << 31) - 1, 1 << 31, (1 << 32) - 1]
NUMBERS += [1 << 32, 1 << 40, (1 << 63) - 1, 1 << 63, (1 << 64) - 16, (1 << 64) - 1]
SIZES = {1: "<B", 2: "<H", 4: "<I", 8: "<Q"}


def fat_binary(kind, payload):
    """Return a fat binary with one entry: PTX (1) or a cubin (2)."""
    payload += bytes(-len(payload) % 8)
    entry = struct.pack(FAT_ENTRY, kind, 0, 64, len(payload), 0, 0, 0, 75, 0, 0, 0, 0, 0)
    return struct.pack(FAT_HEADER, 0xBA55ED50, 1, 16, len(entry + payload)) + entry + payload


def write_corpus(folder):
    """Write sound images: a cubin with PTX and one without, two fat binaries, PTX."""
    from cuda.core import Program, ProgramOptions

    plain = ProgramOptions(arch="sm_75", lineinfo=True)
    cubin = Program(SOURCE, "c++", plain).compile("cubin").code
    ptx = Program(SOURCE, "c++", ProgramOptions(arch="sm_75")).compile("ptx").code
    images = {
        "cubin": cubin,
        "fat_ptx": fat_binary(1, ptx + b"\0"),
        "fat_cubin": fat_binary(2, cubin),
        "ptx": ptx,
        "wrapper": struct.pack("<IIQQ", 0x466243B1, 1, 0, 0),
    }
    for name, image in images.items():
        (Path(folder) / name).write_bytes(image)


class Mutator:
    """Return the damaged image of a seed and a number."""

    def __init__(self, corpus, seed, number):
        self.random = random.Random(f"{seed}:{number}")
        self.image = bytearray(self.random.choice(corpus))

    def result(self):
        for _ in range(self.random.choice([1, 1, 2, 3, 8])):
            changes = [self.cut, self.fill, *[self.set_number] * 4, *[self.set_header] * 4]
            self.random.choice(changes)()
        return bytes(self.image)

    def cut(self):
        del self.image[self.random.randrange(len(self.image) + 1) :]

    def fill(self):
        at = self.random.randrange(len(self.image) + 1)
        self.image[at : at + self.random.choice([1, 8, 64])] = self.random.randbytes(8)

    def put(self, at):
        size = self.random.choice(list(SIZES))
        value = self.random.choice([*NUMBERS, len(self.image), self.random.getrandbits(64)])
        if at + size <= len(self.image):
            struct.pack_into(SIZES[size], self.image, at, value % (1 << (8 * size)))

    def set_number(self):
        self.put(self.random.randrange(len(self.image) + 1))

    def set_header(self):
        """Change a field of the file header or of a section header."""
        at = self.random.randrange(4, 80)
        if self.image[:4] == b"\x7fELF" and len(self.image) >= 64 and self.random.random() < 0.7:
            (table,) = struct.unpack_from("<Q", self.image, 40)
            (count,) = struct.unpack_from("<H", self.image, 60)
            at = table + 64 * self.random.randrange(count + 1) + self.random.randrange(64)
        self.put(at)


class Loader:
    """The functions that load an image; each returns a result to count."""

    def __init__(self, with_length):
        from cuda.bindings import driver
        from cuda.core import CUDAError, Device, ObjectCode

        self.driver, self.error, self.code = driver, CUDAError, ObjectCode
        self.with_length = with_length
        self.file = os.memfd_create("damaged")  # nothing remains of it after a crash
        Device().set_current()

    def load(self, image):
        yield self.by_object(self.code.from_cubin, image)
        yield self.by_object(self.code.from_fatbin, image)
        if not self.with_length:
            yield self.by_driver(self.driver.cuModuleLoadData(image), self.driver.cuModuleUnload)
        os.truncate(self.file, 0)
        os.pwrite(self.file, image, 0)
        name = f"/proc/self/fd/{self.file}".encode()
        yield self.by_driver(self.driver.cuModuleLoad(name), self.driver.cuModuleUnload)
        result = self.driver.cuLibraryLoadFromFile(name, [], [], 0, [], [], 0)
        yield self.by_driver(result, self.driver.cuLibraryUnload)

    def by_object(self, create, image):
        try:
            return "loaded" if create(image).kernels() is not None else ""
        except self.error as error:
            return error.name

    @staticmethod
    def by_driver(result, unload):
        if result[0] == 0:
            unload(result[1])
            return "loaded"
        return result[0].name


def search(corpus, seed, cases, processes=1, *options):
    return Search([HERE, "--corpus", corpus, *options], seed, processes).run(cases)


def load_mutants(options):
    """Run in a child: load the mutants and print how often each result came."""
    os.environ["HALFWARP_BACKEND"] = "emulator"
    corpus = [each.read_bytes() for each in sorted(options.corpus.iterdir())]
    loader, counts, marker = Loader(options.with_length), Counter(), Marker(options.progress)
    for number in options.cases:
        marker.at(number)
        counts.update(loader.load(Mutator(corpus, options.seed, number).result()))
    print(json.dumps(counts))


def main():
    parser = argparse.ArgumentParser()
    add_options(parser)
    parser.add_argument("--corpus", type=Path, default=None)
    parser.add_argument("--with-length", action="store_true")
    options = parser.parse_args()
    if options.progress:
        return load_mutants(options)
    with tempfile.TemporaryDirectory() as folder:
        corpus = options.corpus or Path(folder)
        if not options.corpus:
            write_corpus(corpus)
        length = ["--with-length"] * options.with_length
        return search(corpus, options.seed, options.cases, options.processes, *length).finish()


if __name__ == "__main__":
    sys.exit(main())
