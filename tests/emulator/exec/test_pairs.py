# SPDX-License-Identifier: Apache-2.0
"""Arithmetic on pairs of floats, which compute capability 10.0 has, against single floats."""

import json

import pytest

CODE = """
import json
import sys
import numpy as np
from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, ObjectCode, launch

name, *all_modifiers = sys.argv[1:]
sources = "abc"[: 3 if name == "fma" else 2]
whole = ", ".join(f"%w{x}" for x in sources)
halves = [", ".join(f"%f{x}{n}" for x in sources) for n in (0, 1)]
TEXT = '''.version 8.6
.target sm_100
.address_size 64
.visible .entry k(.param .u64 p) {
    .reg .b64 %p, %i, %w<8>, %wa, %wb, %wc; .reg .b32 %t; .reg .f32 %f<8>;
    .reg .f32 %fa0, %fa1, %fb0, %fb1, %fc0, %fc1;
    ld.param.u64 %p, [p]; mov.u32 %t, %tid.x; mul.wide.u32 %i, %t, 40; add.u64 %p, %p, %i;
    ld.global.b64 %wa, [%p]; ld.global.b64 %wb, [%p+8]; ld.global.b64 %wc, [%p+16];
    mov.b64 {%fa0, %fa1}, %wa; mov.b64 {%fb0, %fb1}, %wb; mov.b64 {%fc0, %fc1}, %wc;
    NAME.f32x2 %w0, WHOLE;
    NAME.f32 %f0, FIRST;
    NAME.f32 %f1, SECOND;
    st.global.b64 [%p+24], %w0; st.global.v2.f32 [%p+32], {%f0, %f1}; ret;
}'''
device = Device()
device.set_current()
stream = device.create_stream()
with LegacyPinnedMemoryResource().allocate(64 * 40) as buffer:
    words = np.from_dlpack(buffer).view("u4").reshape(64, 10)
    outcomes = {}
    for modifiers in all_modifiers:
        words[:] = np.random.default_rng(7).integers(0, 1 << 32, words.shape, dtype="u4")
        words[:8] &= 0x807FFFFF  # subnormal numbers and zeros
        ptx = TEXT.replace("NAME", name + modifiers).replace("WHOLE", whole)
        ptx = ptx.replace("FIRST", halves[0]).replace("SECOND", halves[1])
        kernel = ObjectCode.from_ptx(ptx.encode()).get_kernel("k")
        launch(stream, LaunchConfig(grid=1, block=64), kernel, buffer)
        stream.sync()
        outcomes[modifiers] = [words[:, 6:8].tolist(), words[:, 8:].tolist()]
    print(json.dumps(outcomes))
"""


@pytest.mark.parametrize("name", ["add", "sub", "mul", "fma"])
def test_a_pair_equals_two_floats(run_emulated, name):
    modifiers = [".rn", ".rz", ".rm", ".rp", ".rn.ftz", ".rz.ftz"]
    done = run_emulated(CODE, name, *modifiers, cc="10.0")
    outcomes = json.loads(done.stdout)
    assert list(outcomes) == modifiers
    for pairs, singles in outcomes.values():
        assert pairs == singles
        assert len({tuple(pair) for pair in pairs}) > 32
