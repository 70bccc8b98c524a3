# SPDX-License-Identifier: Apache-2.0
"""LaunchConfig: conversions, refusals, native form."""

import pickle

import numpy as np
from cuda.core import Device, LaunchConfig
from cuda.core._launch_config import _to_native_launch_config

Device(0).set_current()
plain = LaunchConfig(grid=2, block=3)


def fields(**arguments):
    config = LaunchConfig(**{"grid": 1, "block": 1} | arguments)
    return config.grid, config.cluster, config.block, config.shmem_size, config.is_cooperative


def native(**arguments):
    config = _to_native_launch_config(LaunchConfig(**{"grid": (2, 3, 4), "block": 8} | arguments))
    sizes = (
        config.gridDimX,
        config.gridDimY,
        config.gridDimZ,
        config.blockDimX,
        config.sharedMemBytes,
    )
    return sizes, config.numAttrs, [int(each.id) for each in config.attrs]


def assigned(name, value):
    config = LaunchConfig(grid=1, block=1)
    setattr(config, name, value)
    return getattr(config, name)


CASES = [
    lambda: fields(grid=4),
    lambda: fields(grid=(4,)),
    lambda: fields(grid=(4, 5)),
    lambda: fields(grid=(4, 5, 6)),
    lambda: fields(grid=()),
    lambda: fields(grid=(1, 2, 3, 4)),
    lambda: fields(grid=[4, 5]),
    lambda: fields(grid=None),
    lambda: fields(grid="4"),
    lambda: fields(grid=4.0),
    lambda: fields(grid=(4, 5.0)),
    lambda: fields(grid=0),
    lambda: fields(grid=-1),
    lambda: fields(grid=(1, 0)),
    lambda: fields(grid=True),
    lambda: fields(grid=np.int64(4)),
    lambda: fields(block=np.uint32(4)),
    lambda: fields(block=None),
    lambda: fields(block=0),
    lambda: fields(block=(32, 32, 2)),
    lambda: fields(cluster=2),
    lambda: fields(cluster=(2, 1, 1)),
    lambda: fields(cluster=0),
    lambda: fields(cluster="x"),
    lambda: fields(shmem_size=None),
    lambda: fields(shmem_size=1024),
    lambda: fields(shmem_size="1024"),
    lambda: fields(shmem_size=1.5),
    lambda: fields(shmem_size=-1),
    lambda: fields(shmem_size=2**31 - 1),
    lambda: fields(shmem_size=2**31),
    lambda: fields(is_cooperative=True),
    lambda: fields(is_cooperative=1),
    lambda: fields(unknown=1),
    lambda: LaunchConfig(),
    lambda: LaunchConfig(1),
    lambda: LaunchConfig(1, None, 2).block,
    lambda: LaunchConfig(1, 2, 3, 4, True, True),
    lambda: repr(plain),
    lambda: repr(LaunchConfig(grid=1, cluster=2, block=3)),
    lambda: plain == LaunchConfig(grid=(2, 1, 1), block=(3,)),
    lambda: plain == LaunchConfig(grid=2, block=4),
    lambda: plain == 3,
    lambda: hash(plain) == hash(LaunchConfig(grid=2, block=3)),
    lambda: hash(plain) == hash(((2, 1, 1), None, (3, 1, 1), 0, False, False)),
    lambda: pickle.loads(pickle.dumps(plain)) == plain,
    lambda: native(),
    lambda: native(cluster=2),
    lambda: native(cluster=(2, 2, 1), is_cooperative=True),
    lambda: native(programmatic_stream_serialization=True),
    lambda: native(is_cooperative=True, programmatic_stream_serialization=True, shmem_size=7),
    lambda: _to_native_launch_config(3),
    lambda: assigned("grid", (2, 3, 4)),
    lambda: assigned("grid", 2),
    lambda: assigned("block", "x"),
    lambda: assigned("cluster", (2, 2, 2)),
    lambda: assigned("cluster", None),
    lambda: assigned("shmem_size", 12),
    lambda: assigned("is_cooperative", True),
    lambda: assigned("unknown", True),
    lambda: LaunchConfig(grid=1, block=1).programmatic_stream_serialization,
]
