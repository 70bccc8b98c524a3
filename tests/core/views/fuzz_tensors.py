# SPDX-License-Identifier: Apache-2.0
"""Malformed DLPack tensors for every importer.

``python -m tests.core.views.fuzz_tensors --seed 1 --cases 0:100000 --processes 4`` imports tensors
in child processes.

Each tensor has fields of random values. A view, a copy from it, a copy to it and a kernel argument
import it. An importer accepts the tensor or raises an error for users; anything else ends the
program. Fields that no importer can check, such as a wrong address, keep valid values.
"""

import argparse
import collections
import json
import random
import sys

import numpy as np
from cuda.core import CUDAError, Device
from cuda.core._kernel_arg_handler import ParamHolder
from cuda.core.utils import StridedMemoryView

from tests.search import Marker, Search, add_options

from .capsules import DELETER, Producer

REFUSALS = (BufferError, TypeError, ValueError, OverflowError, NotImplementedError, CUDAError)
SIZE = 48
EDGES = (0, 1, 2, 3, 4, 12, 48, 2**31 - 1, 2**31, 2**32, 2**61, 2**62, 2**62 - 5, 2**63 - 1)
EXTENTS = (*EDGES, -1, -8, -(2**63))
AXES = (0, 1, 2, 3, 64, 65, 70, 1000, 2**31 - 1, -1, -(2**31))
KINDS = (1, 1, 2, 2, 3, 13, 0, 4, 7, 8, 10, 14, 99, -1, 2**31 - 1, -(2**31))
PAIRS = ((2**32 + 2, 0), (1, 2**40), (2, -1), (1,), (1, 2, 3), None, "ab", (1.5, 0), ("1", 0))
VERSIONS = ((1, 0), (1, 2), (1, 99), (0, 0), (2, 0), (99, 0), (2**32 - 1, 2**32 - 1))


def random_producer(random):
    """Return a producer of a tensor of 48 bytes, of which random fields differ."""
    changes = {}
    count = random.choice((0, 1, 1, 2, 3))
    for name in random.sample(
        ("ndim", "bits", "lanes", "code", "data", "byte_offset", "shape", "strides"), count
    ):
        changes[name] = {
            "ndim": lambda: random.choice(AXES),
            "bits": lambda: random.choice((0, 1, 4, 6, 7, 8, 12, 16, 32, 64, 128, 255)),
            "lanes": lambda: random.choice((0, 1, 2, 4, 255, 65535)),
            "code": lambda: random.randrange(256),
            "data": lambda: None,
            "byte_offset": lambda: random.choice((0, 4, 16, 2**64 - 1, 2**64 - 4096)),
            "shape": lambda: [random.choice(EXTENTS) for _ in range(random.randrange(1, 6))],
            "strides": lambda: [random.choice(EXTENTS) for _ in range(random.randrange(1, 6))],
        }[name]()
    kind = random.choice(KINDS) if random.random() < 0.3 else random.choice((1, 2, 13))
    producer = Producer(
        (kind, random.choice((0, 0, 0, 1, -1, 2**31 - 1))),
        is_versioned=random.random() < 0.6,
        flags=random.choice((0, 0, 1, 2, 3, 4, 7, 2**64 - 1)),
        version=random.choice(VERSIONS) if random.random() < 0.3 else (1, 1),
        **changes,
    )
    # A byte offset must remain within the memory, which no importer can check.
    producer.memory = np.zeros(4096, np.uint8)
    if "data" not in changes:
        producer.managed.content.data = producer.memory.ctypes.data
    if random.random() < 0.15:
        producer.device = random.choice(PAIRS)
    elif random.random() < 0.15:
        producer.device = (random.choice(KINDS), 0)
    for name in ("shape", "strides"):
        if random.random() < 0.1:
            setattr(producer.managed.content, name, None)
    if random.random() < 0.1:
        producer.managed.deleter = DELETER()
    return producer


def import_view(producer, buffer, stream):
    view = StridedMemoryView.from_dlpack(producer, -1)
    assert view.ndim <= 64
    assert all(extent >= 0 for extent in view.shape)
    assert view.ptr or not view.nbytes
    return repr((view.shape, view.strides, view.size, view.itemsize, view.is_contiguous_c))


def import_bytes(producer, buffer, stream):
    buffer.copy_from(producer, stream=stream)


def export_bytes(producer, buffer, stream):
    buffer.copy_to(producer, stream=stream)


def import_argument(producer, buffer, stream):
    ParamHolder([producer])


IMPORTERS = (import_view, import_bytes, export_bytes, import_argument)


def fuzz(seed, numbers, mark=lambda number: None):
    """Import tensors by every importer, and count the outcomes by importer."""
    device = Device()
    device.set_current()
    outcomes = collections.Counter()
    with device.create_stream() as stream, device.allocate(SIZE, stream=stream) as buffer:
        buffer.fill(0, stream=stream)
        for number in numbers:
            mark(number)
            producer = random_producer(random.Random(f"{seed}:{number}"))
            for importer in IMPORTERS:
                has_deleter = bool(producer.managed.deleter)
                before = producer.deleted
                try:
                    importer(producer, buffer, stream)
                except REFUSALS as error:
                    assert str(error), type(error)
                    outcomes[f"{importer.__name__} refused"] += 1
                else:
                    outcomes[f"{importer.__name__} accepted"] += 1
                # Only a view consumes the capsule, where the producer was asked for one.
                assert producer.deleted - before <= has_deleter
            stream.sync()
    return outcomes


def search(seed, cases, processes=1):
    return Search(["-m", "tests.core.views.fuzz_tensors"], seed, processes).run(cases)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_options(parser)
    options = parser.parse_args()
    if not options.progress:
        return search(options.seed, options.cases, options.processes).finish()
    print(json.dumps(fuzz(options.seed, options.cases, Marker(options.progress).at)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
