# SPDX-License-Identifier: Apache-2.0
"""Fixtures that run tcgen05 on a device of compute capability 10.0, in another process."""

import json
import tempfile
from pathlib import Path

import numpy as np
import pytest

THREADS, SHARED, COLUMNS = 128, 32768, 256
RUN = """
import json, sys
import numpy as np
from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, ObjectCode, launch
device = Device()
device.set_current()
stream = device.create_stream()
pinned = LegacyPinnedMemoryResource()
results = []
for case in np.load(sys.argv[1], allow_pickle=False)["texts"]:
    case = json.loads(str(case))
    with np.load(sys.argv[1], allow_pickle=False) as data:
        image, words = data[f"image{case['number']}"], data[f"words{case['number']}"]
    kernel = ObjectCode.from_ptx(case["text"].encode()).get_kernel("run")
    blocks = case["blocks"]
    source, constants = pinned.allocate(image.nbytes), pinned.allocate(words.nbytes)
    target = pinned.allocate(blocks * case["bytes"])
    np.from_dlpack(source).view(np.uint8)[:] = image
    np.from_dlpack(constants).view(np.uint64)[:] = words
    cluster = {"cluster": blocks} if blocks > 1 else {}
    launch(stream, LaunchConfig(grid=blocks if blocks == 1 else 1, block=128, **cluster), kernel,
           source, constants, target)
    try:
        stream.sync()
    except Exception as error:
        print(error, *getattr(error, "__notes__", ()))
        break
    results.append(np.from_dlpack(target).view(np.uint32).copy())
np.savez(sys.argv[2], *results)
"""


def kernel_text(body, declarations="", epilogue=True, columns=COLUMNS, group=1, target="sm_100a"):
    """Return a kernel that fills shared memory, allocates, runs a body and stores all columns.

    `c0` to `c7` are the constants of 64 bits, `taddr` is the address of the tensor memory, `warp`
    the rank of the warp and `mine` the address of its lanes.
    """
    loads = "".join(f"ld.global.b64 c{n}, [words+{8 * n}];" for n in range(8))
    stores = ""
    for first in range(0, columns, 32):
        registers = ", ".join(f"d{n}" for n in range(32))
        stores += f"add.u32 t, mine, {first}; tcgen05.ld.sync.aligned.32x32b.x32.b32 "
        stores += f"{{{registers}}}, [t]; tcgen05.wait::ld.sync.aligned;"
        stores += "".join(f"st.global.b32 [to+{4 * (first + n)}], d{n};" for n in range(32))
    return f""".version 8.8
.target {target}
.address_size 64
.visible .entry run(.param .u64 image, .param .u64 constants, .param .u64 out) {{
    .shared .align 1024 .b8 memory[{SHARED}]; .shared .align 8 .b64 bar[2];
    .shared .align 4 .b32 cell;
    .reg .b64 from, words, to, o, p, v, c<8>; .reg .b32 i, t, taddr, mine, warp, block;
    .reg .b32 d<33>, r<64>;
    .reg .b16 h<4>; .reg .pred q, first, leader, adds;
    {declarations}
    ld.param.u64 from, [image]; ld.param.u64 words, [constants]; ld.param.u64 to, [out];
    {loads}
    mov.u32 i, %tid.x; shr.u32 warp, i, 5; mov.u32 block, %ctaid.x; mov.u32 t, %tid.x;
    mul.wide.u32 o, block, {SHARED}; add.u64 from, from, o;
    copy: mul.wide.u32 o, t, 8; mov.u64 p, memory; add.u64 p, p, o; add.u64 v, from, o;
    ld.global.b64 v, [v]; st.shared.b64 [p], v; add.u32 t, t, {THREADS};
    setp.lt.u32 q, t, {SHARED // 8}; @q bra copy;
    setp.eq.u32 first, i, 0;
    @first mbarrier.init.shared.b64 [bar], 1; @first fence.mbarrier_init.release.cluster;
    setp.ne.u32 q, warp, 0; @q bra allocated;
    tcgen05.alloc.cta_group::{group}.sync.aligned.shared::cta.b32 [cell], {columns};
    tcgen05.relinquish_alloc_permit.cta_group::{group}.sync.aligned;
    allocated: fence.proxy.async; bar.sync 0; tcgen05.fence::after_thread_sync;
    barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
    ld.shared.b32 taddr, [cell]; shl.b32 mine, warp, 21; add.u32 mine, mine, taddr;
    mad.lo.u32 t, block, {THREADS}, i; mul.wide.u32 o, t, {4 * columns}; add.u64 to, to, o;
    {body}
    {stores if epilogue else ""}
    tcgen05.fence::before_thread_sync; bar.sync 0;
    barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
    setp.ne.u32 q, warp, 0; @q bra released;
    tcgen05.dealloc.cta_group::{group}.sync.aligned.b32 taddr, {columns};
    released: ret; }}"""


COMMIT = "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bar];"
MULTICAST = (
    "mov.b16 h0, 3; tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster"
    ".multicast::cluster.b64 [bar], h0;"
)
WAIT = """
    wait: mbarrier.try_wait.parity.shared::cta.b64 q, [bar], 0; @!q bra wait;
    tcgen05.fence::after_thread_sync;
"""


def by_leader(instructions, adds="setp.ne.u32 adds, 0, 0;", blocks=1):
    """Run instructions in thread 0 of block 0, commit them and wait in all threads."""
    work = "".join(f"{each};" for each in instructions)
    return f"""setp.eq.u32 q, block, 0; and.pred leader, q, first; {adds}
        @!leader bra issued; {work} {COMMIT if blocks == 1 else MULTICAST}
        issued: {WAIT}"""


class Case:
    def __init__(self, text, image=None, words=(), blocks=1, columns=COLUMNS):
        self.text, self.blocks, self.columns = text, blocks, columns
        self.image = np.zeros(blocks * SHARED, np.uint8) if image is None else image
        self.words = np.zeros(8, np.uint64)
        self.words[: len(words)] = [int(w) for w in words]


def run_cases(run_emulated, cases, cc="10.0", **options):
    """Return the tensor memory [block][lane][column] of each case, and the errors."""
    with tempfile.TemporaryDirectory() as folder:
        arrays, texts = {}, []
        for n, case in enumerate(cases):
            arrays[f"image{n}"], arrays[f"words{n}"] = case.image, case.words
            size = 4 * 128 * case.columns
            texts.append(
                json.dumps({"number": n, "text": case.text, "blocks": case.blocks, "bytes": size})
            )
        source, target = Path(folder) / "in.npz", Path(folder) / "out.npz"
        np.savez(source, texts=np.array(texts), **arrays)
        output = run_emulated(RUN, str(source), str(target), cc=cc, **options).stdout
        with np.load(target) as data:
            results = [data[name] for name in data.files]
    shaped = [r.reshape(c.blocks, 128, c.columns) for r, c in zip(results, cases, strict=False)]
    return shaped, output


@pytest.fixture
def run_tensor(run_emulated):
    def run(cases, **options):
        results, output = run_cases(run_emulated, cases, **options)
        assert len(results) == len(cases), output
        return results

    return run


@pytest.fixture
def tensor_fault(run_emulated):
    """Run a body that must fail; return the error with its notes."""

    def run(body, **options):
        mode = {name: options.pop(name) for name in ("mode",) if name in options}
        results, output = run_cases(run_emulated, [Case(kernel_text(body, **options))], **mode)
        assert not results
        return output

    return run
