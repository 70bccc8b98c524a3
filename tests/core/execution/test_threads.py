# SPDX-License-Identifier: Apache-2.0
"""Several threads, each with its own streams, over shared pools and code."""

import random
from functools import partial

import numpy as np
import pytest
from cuda.core import Device, DeviceMemoryResource, LaunchConfig, ObjectCode, launch

from ...threads import run_together

THREADS = 8
ROUNDS = 25
ELEMENTS = 64
ADD = b"""
.version 8.0
.target sm_75
.address_size 64
.visible .entry add(.param .u64 data, .param .u32 n)
{
    .reg .u64 %rd<3>;
    .reg .u32 %r<4>;
    ld.param.u64 %rd1, [data];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %tid.x;
    mul.wide.u32 %rd2, %r2, 4;
    add.u64 %rd1, %rd1, %rd2;
    ld.global.u32 %r3, [%rd1];
    add.u32 %r3, %r3, %r1;
    st.global.u32 [%rd1], %r3;
    ret;
}
"""


@pytest.fixture
def pool(device):
    pool = DeviceMemoryResource(device, {})
    yield pool
    pool.close()


def add_up_to(count, kernel, pool, stream, reader):
    """Sum 1 to `count` on one stream, read the sum on another, and free it there."""
    result = np.empty(ELEMENTS, np.uint32)
    buffer = pool.allocate(result.nbytes, stream=stream)
    buffer.fill(0, stream=stream)
    for term in range(1, count + 1):
        launch(stream, LaunchConfig(grid=1, block=ELEMENTS), kernel, buffer, term)
    reader.wait(stream.record())
    buffer.copy_to(result, stream=reader)
    reader.sync()
    buffer.close(reader)
    return result


def test_threads_do_not_disturb_each_other(device, pool):
    code = ObjectCode.from_ptx(ADD)
    failures = []

    def work(seed):
        chosen = random.Random(seed)
        device = Device(0)
        device.set_current()
        with device.create_stream() as stream, device.create_stream() as reader:
            kernel = code.get_kernel("add")
            for _ in range(ROUNDS):
                count = chosen.randrange(1, 5)
                source = chosen.choice([pool, device.memory_resource])
                result = add_up_to(count, kernel, source, stream, reader)
                if (result != count * (count + 1) // 2).any():
                    failures.append((seed, count, result))

    run_together(*(partial(work, seed) for seed in range(THREADS)))
    assert not failures
