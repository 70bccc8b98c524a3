# SPDX-License-Identifier: Apache-2.0
"""Loads and launches changed PTX on the emulator; a crash ends this process.

``python worker.py LIBRARY CORPUS --seed 1 --cases 0:100 --progress FILE``: LIBRARY is the
emulator's, CORPUS a folder of PTX. Each mutant depends on the seed and its number alone, so that
``--cases 7:8 --show`` prints and repeats one. At the end it prints a JSON object with counts of
the result codes.
"""

import argparse
import ctypes
import json
import os
import random
import re
import struct
import sys
from collections import Counter
from pathlib import Path

import mutate

sys.path.append(str(Path(__file__).parents[3]))

from tests.peak_memory import peak_kib
from tests.search import Marker, add_options

OPTIONS = {"MODE": "eager", "STEP_LIMIT": "100000", "MEMORY": "64MiB", "REPORT": "/dev/null"}
CELL, CELLS = 64, 33_000  # a parameter of any size may be read at each
BUFFER = 1 << 16
KERNEL = re.compile(r"\.entry\s+([\w$]+)\s*(?:\(([^)]*)\))?")
MAX_KERNELS = 3  # of one text


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("library", type=Path)
    parser.add_argument("corpus", type=Path)
    add_options(parser)
    parser.add_argument("--show", action="store_true", help="print each text before it is loaded")
    return parser.parse_args()


class Emulator:
    """The driver functions of a library, a context, and memory for kernel arguments."""

    def __init__(self, path):
        self.library = ctypes.CDLL(str(path))
        self.call("cuInit", 0)
        self.cells = ctypes.create_string_buffer(CELL * CELLS + BUFFER)
        first = ctypes.addressof(self.cells)
        self.pointers = (ctypes.c_void_p * CELLS)(*(first + CELL * i for i in range(CELLS)))
        self.context = None
        self.begin()

    def call(self, name, *values):
        code = getattr(self.library, name)(*values)
        assert code == 0, f"{name} returned {code}"

    def output(self, name, *values):
        out = ctypes.c_uint64()
        self.call(name, ctypes.byref(out), *values)
        return out.value

    def begin(self):
        """Create a context, at the start or after a fault."""
        if self.context is not None:  # it returns the fault and is destroyed
            self.library.cuCtxDestroy_v2(ctypes.c_void_p(self.context))
        self.context = self.output("cuCtxCreate_v2", 0, 0)
        self.buffers = [self.output("cuMemAlloc_v2", ctypes.c_size_t(BUFFER)) for _ in range(4)]
        for buffer in self.buffers:
            self.call("cuMemsetD8_v2", ctypes.c_uint64(buffer), 1, ctypes.c_size_t(BUFFER))

    def fill(self, parameters):
        """Write the kernel arguments: buffers for 64 bits, 1.5 for floats, else small numbers."""
        for i, text in enumerate((parameters or "").split(",")):
            wide = struct.pack("<Q", self.buffers[i % len(self.buffers)])
            value = struct.pack("<f", 1.5) if ".f32" in text else struct.pack("<Q", 40 + i)
            value = wide if "64" in text else value
            self.cells[CELL * i : CELL * i + len(value)] = value

    def run(self, text, choices):
        """Return the result codes of loading and of launching."""
        module = ctypes.c_void_p()
        results = [self.library.cuModuleLoadData(ctypes.byref(module), text.encode())]
        if results[0]:
            return results
        for name, parameters in KERNEL.findall(text)[:MAX_KERNELS]:
            function = ctypes.c_void_p()
            code = self.library.cuModuleGetFunction(ctypes.byref(function), module, name.encode())
            if code == 0:
                results.append(self.launch(function, parameters, choices))
            if self.library.cuCtxSynchronize():
                self.begin()
                return results
        self.call("cuModuleUnload", module)
        return results

    def launch(self, function, parameters, choices):
        self.fill(parameters)
        block = choices.choice([(1, 1, 1), (32, 1, 1), (33, 1, 1), (8, 8, 1), (7, 1, 3)])
        shape = (choices.choice([1, 1, 2]), 1, 1, *block, choices.choice([0, 0, 1024]), None)
        if choices.random() < 0.1:
            return self.library.cuLaunchCooperativeKernel(function, *shape, self.pointers)
        code = self.library.cuLaunchKernel(function, *shape, self.pointers, None)
        return code or self.library.cuCtxSynchronize()


def main():
    options = arguments()
    os.environ |= {f"HALFWARP_EMULATOR_{name}": value for name, value in OPTIONS.items()}
    texts = mutate.Corpus([path.read_text() for path in sorted(options.corpus.glob("*.ptx"))])
    marker, emulator, counts = Marker(options.progress), Emulator(options.library), Counter()
    for number in options.cases:
        text = mutate.Mutator(texts, options.seed, number).text()
        marker.at(number)
        if options.show:
            print(text, flush=True)
        results = emulator.run(text, random.Random(number))
        counts["load", results[0]] += 1
        counts.update(("launch", code) for code in results[1:])
    peak = peak_kib()
    marker.at(options.cases.stop)
    print(json.dumps({"peak_kib": peak, **{f"{w} {c}": n for (w, c), n in counts.items()}}))


if __name__ == "__main__":
    main()
