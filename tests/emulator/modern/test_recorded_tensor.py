# SPDX-License-Identifier: Apache-2.0
"""wmma, mma.sp, mma.m8n8k4 and wgmma against results that an H100 gave.

The recording has a JSON list of cases, then for each case: the units of 16 bytes of its memory that
are not zero, the words that the threads of one warp read, and the words that they stored.
"""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, ObjectCode, launch

LANES, RECORDED_WARP = 32, 2  # of a warpgroup
UNIT = 16


def recording():
    """Yield each case with its memory, the words of all threads and the results of a warp."""
    data = gzip.decompress(Path(__file__).with_name("tensor_h100.bin.gz").read_bytes())
    size = int.from_bytes(data[:8], "little")
    at = 8 + size
    for case in json.loads(data[8:at]):
        memory = np.zeros(case["image"], np.uint8)
        for unit in case["units"]:
            memory[UNIT * unit : UNIT * unit + UNIT] = np.frombuffer(data, np.uint8, UNIT, at)
            at += UNIT
        parts = []
        for columns in (case["inputs"], case["outputs"]):
            count = LANES * columns
            parts.append(np.frombuffer(data, np.uint32, count, at).reshape(LANES, columns))
            at += 4 * count
        words = np.zeros((case["threads"], case["inputs"]), np.uint32)
        if case["filler"]:  # valid metadata of the other warps
            words[:, -1] = case["filler"]
        words[recorded_threads(case)] = parts[0]
        yield case, memory, words, parts[1]


def recorded_threads(case):
    first = LANES * RECORDED_WARP if case["threads"] > LANES else 0
    return slice(first, first + LANES)


CASES = {case["name"]: (case, *parts) for case, *parts in recording()}


def kernel_text(case):
    inputs, outputs, size = case["inputs"], case["outputs"], max(case["image"], 8 * case["threads"])
    loads = "".join(f"ld.global.b32 i{n}, [wp+{4 * n}];" for n in range(inputs))
    stores = "".join(f"st.global.b32 [to+{4 * n}], o{n};" for n in range(outputs))
    return f""".version 8.7
.target {case["target"]}
.address_size 64
.visible .entry run(.param .u64 image, .param .u64 words, .param .u64 target) {{
    .shared .align 1024 .b8 memory[{size}];
    .reg .b32 t, u, i<{inputs + 1}>, o<{outputs + 1}>; .reg .b64 base, wp, to, p, v, sm;
    .reg .pred q; {case["declare"]}
    ld.param.u64 base, [image]; ld.param.u64 wp, [words]; ld.param.u64 to, [target];
    mov.u32 t, %tid.x; mul.wide.u32 p, t, {4 * outputs}; add.u64 to, to, p;
    mul.wide.u32 p, t, {4 * inputs}; add.u64 wp, wp, p; mov.u32 u, t; mov.u64 sm, memory;
    copy: mul.wide.u32 p, u, 8; add.u64 v, base, p; ld.global.b64 v, [v]; add.u64 p, sm, p;
    st.shared.b64 [p], v; add.u32 u, u, {case["threads"]};
    setp.lt.u32 q, u, {size // 8}; @q bra copy;
    bar.sync 0;
    {loads}
    {case["body"]}
    {stores}
    ret; }}"""


@pytest.mark.parametrize("name", CASES)
def test_a_recorded_result(name):
    case, memory, words, expected = CASES[name]
    device = Device()
    device.set_current()
    kernel = ObjectCode.from_ptx(kernel_text(case).encode()).get_kernel("run")
    pinned = LegacyPinnedMemoryResource()
    results = 4 * case["threads"] * case["outputs"]
    with (
        pinned.allocate(len(memory) + 8 * case["threads"]) as image,
        pinned.allocate(max(words.nbytes, 4)) as source,
        pinned.allocate(results) as target,
        device.create_stream() as stream,
    ):
        view = np.from_dlpack(image).view(np.uint8)
        view[:] = 0
        view[: len(memory)] = memory
        np.from_dlpack(source).view(np.uint32)[: words.size] = words.ravel()
        config = LaunchConfig(grid=1, block=case["threads"])
        launch(stream, config, kernel, image, source, target)
        stream.sync()
        stored = np.from_dlpack(target).view(np.uint32).reshape(case["threads"], -1)
        assert (stored[recorded_threads(case)] == expected).all()
