# SPDX-License-Identifier: Apache-2.0
"""The ranks of one process, each on its own device, in a communicator of all processes."""

import os
import time
from pathlib import Path

import api
import numpy as np


def shared_id():
    """Return the unique id that the first process writes to the file of variable NCCL_ID."""
    if "NCCL_ID" not in os.environ:
        return api.unique_id()
    path = Path(os.environ["NCCL_ID"])
    if api.process_rank()[0] == 0:
        value = api.unique_id()
        path.with_suffix(".new").write_bytes(bytes(value))
        path.with_suffix(".new").rename(path)
        return value
    while not path.exists():
        time.sleep(0.01)
    return api.id_from(path.read_bytes())


class Rank:
    """A rank with its device, stream and communicator."""

    def __init__(self, number):
        self.number, self.comm = number, api.c.c_void_p()
        self.select()
        self.stream = api.stream()

    def select(self):
        api.select(self.number)

    def upload(self, values):
        self.select()
        return api.buffer(values)

    def download(self, address, like):
        self.select()
        api.synchronize(self.stream)
        return api.read(address, like)

    def free(self, *addresses):
        self.select()
        for address in addresses:
            api.free(address)


def join(per_process=2):
    """Return the ranks of this process, and the number of all ranks."""
    process, processes = api.process_rank() if "RANK" in os.environ else (0, 1)
    first, total, value = process * per_process, processes * per_process, shared_id()
    ranks = [Rank(first + i) for i in range(per_process)]
    with api.group():
        for each in ranks:
            each.select()
            api.call("ncclCommInitRank", api.c.byref(each.comm), total, value, each.number)
    return ranks, total


def destroy(ranks):
    for each in ranks:
        api.call("ncclCommDestroy", each.comm)


def dtype_of(name):
    if name == "bfloat16" or name.startswith("float8"):
        import ml_dtypes

        return np.dtype(
            getattr(
                ml_dtypes,
                {"float8e4m3": "float8_e4m3fn", "float8e5m2": "float8_e5m2"}.get(name, name),
            )
        )
    return np.dtype(name)


LARGEST = {"float8e4m3": 448, "float8e5m2": 57344}


def rounded(name, values):
    """Return float32 values in a type; 8-bit floats saturate."""
    if limit := LARGEST.get(name):
        values = np.clip(values, -limit, limit)
    with np.errstate(over="ignore", invalid="ignore"):
        return values.astype(dtype_of(name))


def random_values(name, count, seed):
    generator = np.random.default_rng([seed, api.NUMBER_OF[name], count])
    dtype = dtype_of(name)
    if dtype.kind in "iu":
        return np.frombuffer(generator.bytes(count * dtype.itemsize), dtype)
    scaled = generator.normal(size=count) * 2.0 ** generator.integers(-4, 5, count)
    return rounded(name, scaled.astype(np.float64 if name == "float64" else np.float32))


def reduced(name, inputs, operation):
    """Return the documented result: in rank order, small floats rounded once."""
    dtype = dtype_of(name)
    is_small = dtype.itemsize < 4 and dtype.kind not in "iu"
    wide = [x.astype(np.float32) if is_small else x for x in inputs]
    step = {
        api.SUM: np.add,
        api.AVG: np.add,
        api.PROD: np.multiply,
        api.MAX: np.fmax,
        api.MIN: np.fmin,
    }[operation]
    total = wide[0]
    with np.errstate(all="ignore"):
        for each in wide[1:]:
            total = step(total, each)
        if operation == api.AVG:
            ranks = len(inputs)
            if dtype.kind in "iu":
                quotient = np.abs(total.astype(object)) // ranks * np.sign(total.astype(object))
                total = quotient.astype(dtype) if total.size else total
            else:
                total = total / total.dtype.type(ranks)
    return rounded(name, total) if is_small else total
