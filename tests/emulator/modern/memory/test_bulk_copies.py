# SPDX-License-Identifier: Apache-2.0
"""Bulk and tensor copies, compared with slices of NumPy arrays."""

import ctypes
import functools
import itertools

import numpy as np
import pytest
from cuda.bindings import driver
from cuda.core import (
    Device,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    ObjectCode,
    Program,
    ProgramOptions,
    launch,
)

HEAD = r"""
typedef unsigned u32; typedef unsigned long long u64;
__device__ u32 at(const void* p) { return (u32)__cvta_generic_to_shared(p); }
__device__ u32 mapped(const void* p, u32 rank) {
  u32 a; asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(a) : "r"(at(p)), "r"(rank)); return a;
}
__device__ void start(u64* bar, u32 bytes) {
  asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(at(bar)));
  asm volatile("fence.mbarrier_init.release.cluster; fence.proxy.async;");
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" :: "r"(at(bar)), "r"(bytes));
}
__device__ void wait(u64* bar) {
  for (u32 ok = 0; !ok;)
    asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0;"
                 "selp.u32 %0, 1, 0, p;}" : "=r"(ok) : "r"(at(bar)) : "memory");
}
__device__ void sync() {
  asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
}
__device__ void drain() {
  asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
}
__device__ u32 rank() { u32 r; asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(r)); return r; }
"""


@functools.cache
def compiled(source):
    """Return the PTX of a source."""
    options = ProgramOptions(arch="sm_90a")
    return bytes(Program(HEAD + source, "c++", options).compile("ptx").code)


@pytest.fixture
def run():
    """Run kernel k of a source with arrays, which are copied back, and integers."""
    device = Device()
    device.set_current()
    memory = LegacyPinnedMemoryResource()

    def run(source, *arguments, cluster=None, shared=8192):
        kernel = ObjectCode.from_ptx(compiled(source)).get_kernel("k")
        buffers = {}
        for i, argument in enumerate(arguments):
            if isinstance(argument, np.ndarray):
                buffers[i] = memory.allocate(argument.nbytes)
                np.from_dlpack(buffers[i]).view(argument.dtype)[:] = argument.ravel()
        values = [
            buffers.get(i, a) if not isinstance(a, int) else np.int32(a)
            for i, a in enumerate(arguments)
        ]
        config = LaunchConfig(grid=1, block=1, shmem_size=shared, cluster=cluster)
        with device.create_stream() as stream:
            launch(stream, config, kernel, *values)
            stream.sync()
        for i, buffer in buffers.items():
            arguments[i][...] = (
                np.from_dlpack(buffer).view(arguments[i].dtype).reshape(arguments[i].shape)
            )
            buffer.close()

    return run


LOAD = r"""
extern "C" __global__ void k(const char* from, char* to, int bytes) {
  extern __shared__ __align__(128) char s[]; __shared__ u64 bar;
  start(&bar, bytes);
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2,"
               " [%3];" :: "r"(at(s)), "l"(from), "r"(bytes), "r"(at(&bar)) : "memory");
  wait(&bar);
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], 16;" :: "l"(from));
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
               :: "l"(to), "r"(at(s)), "r"(bytes) : "memory");
  drain();
}"""


@pytest.mark.parametrize("size", [16, 48, 4096])
def test_ranges_pass_through_shared_memory(run, size):
    source = np.random.default_rng(1).integers(0, 256, size, dtype=np.uint8)
    target = np.zeros(size + 16, np.uint8)
    run(LOAD, source, target, size)
    assert (target[:size] == source).all() and not target[size:].any()


CLUSTER = r"""
extern "C" __global__ void k(const u32* from, u32* to, int mask) {
  extern __shared__ __align__(128) u32 s[]; __shared__ u64 bar, pair;
  u32 me = rank();
  for (int i = 0; i < 8; ++i) s[i] = 0;
  start(&bar, mask >> me & 1 ? 16 : 0); start(&pair, 16);
  sync();
  if (me == 0) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                 ".multicast::cluster [%0], [%1], 16, [%2], %3;"
                 :: "r"(at(s)), "l"(from), "r"(at(&bar)), "h"((short)mask) : "memory");
  }
  wait(&bar);
  u32 next = (me + 1) % 4;
  s[8] = 100 + me; s[9] = s[10] = s[11] = me;
  asm volatile("fence.proxy.async;");
  asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1],"
               " 16, [%2];" :: "r"(mapped(s + 4, next)), "r"(at(s + 8)), "r"(mapped(&pair, next))
               : "memory");
  wait(&pair);
  for (int i = 0; i < 8; ++i) to[8 * me + i] = s[i];
  sync();
}"""


def test_copies_within_a_cluster(run):
    source = np.arange(1, 5, dtype=np.uint32)
    target = np.zeros((4, 8), np.uint32)
    run(CLUSTER, source, target, 0b1011, cluster=4)
    for me in range(4):
        received = source if 0b1011 >> me & 1 else 0 * source
        assert (target[me, :4] == received).all()
        before = (me - 1) % 4
        assert target[me, 4:].tolist() == [100 + before, before, before, before]


STORE_ASYNC = r"""
extern "C" __global__ void k(u32* to) {
  extern __shared__ __align__(128) u32 s[]; __shared__ u64 bar;
  u32 me = rank(), next = 1 - me;
  for (int i = 0; i < 8; ++i) s[i] = 10;
  start(&bar, 8 + 16 + 4);
  sync();
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u64 [%0], %1, [%2];"
    :: "r"(mapped(s, next)), "l"(0x200000001ull + me), "r"(mapped(&bar, next)) : "memory");
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32"
    " [%0], {%1, %1, %2, %2}, [%3];"
    :: "r"(mapped(s + 4, next)), "r"(me), "r"(7), "r"(mapped(&bar, next)) : "memory");
  asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32"
    " [%0], %1, [%2];"
    :: "r"(mapped(s + 2, next)), "r"(me + 1), "r"(mapped(&bar, next)) : "memory");
  wait(&bar);
  for (int i = 0; i < 8; ++i) to[8 * me + i] = s[i];
  sync();
}"""


def test_asynchronous_stores(run):
    target = np.zeros((2, 8), np.uint32)
    run(STORE_ASYNC, target, cluster=2)
    for me in range(2):
        other = 1 - me
        assert target[me].tolist() == [1 + other, 2, 11 + other, 10, other, other, 7, 7]


GENERIC = """
__device__ u64 generic(u32 address) {
  u64 result;
  asm("cvta.shared::cluster.u64 %0, %1;" : "=l"(result) : "l"((u64)address));
  return result;
}"""


def test_asynchronous_stores_at_generic_addresses(run):
    target = np.zeros((2, 8), np.uint32)
    source = STORE_ASYNC.replace(".shared::cluster.mbarrier", ".mbarrier")
    source = source.replace('"r"(mapped(', '"l"(generic(mapped(').replace("next))", "next)))")
    run(GENERIC + source, target, cluster=2)
    for me in range(2):
        other = 1 - me
        assert target[me].tolist() == [1 + other, 2, 11 + other, 10, other, other, 7, 7]


REDUCE = r"""
extern "C" __global__ void k(const char* from, char* to, int bytes) {
  extern __shared__ __align__(128) char s[];
  for (int i = 0; i < bytes; ++i) s[i] = from[i];
  asm volatile("fence.proxy.async;");
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.OPERATION [%0], [%1], %2;"
               :: "l"(to), "r"(at(s)), "r"(bytes) : "memory");
  drain();
}"""
REDUCTIONS = {
    "add.u32": ("u4", np.add), "add.s32": ("i4", np.add), "add.u64": ("u8", np.add),
    "min.u32": ("u4", np.minimum), "min.s32": ("i4", np.minimum), "max.s64": ("i8", np.maximum),
    "max.u64": ("u8", np.maximum), "and.b32": ("u4", np.bitwise_and),
    "or.b64": ("u8", np.bitwise_or), "xor.b32": ("u4", np.bitwise_xor),
    "inc.u32": ("u4", lambda a, b: np.where(a >= b, 0, a + 1)),
    "dec.u32": ("u4", lambda a, b: np.where((a == 0) | (a > b), b, a - 1)),
    "add.noftz.f16": ("f2", np.add), "add.f32": ("f4", np.add), "add.f64": ("f8", np.add),
    "max.f16": ("f2", np.maximum),
}  # fmt: skip


@pytest.mark.parametrize("operation", REDUCTIONS)
def test_reductions(run, operation):
    kind, expected = REDUCTIONS[operation]
    random = np.random.default_rng(3)
    if kind[0] == "f":
        a, b = (random.normal(0, 9, 64).astype(kind) for _ in range(2))
    else:
        words = random.integers(0, 1 << 63, (2, 64), dtype="u8") * 2 + 1
        a, b = (row.astype(kind) for row in words)
    target = a.copy()
    run(REDUCE.replace("OPERATION", operation), b, target, b.nbytes)
    with np.errstate(over="ignore"):
        assert (target == expected(a, b).astype(kind)).all()


TENSOR_LOAD = r"""
struct __align__(64) tensor_map { char bytes[128]; };
extern "C" __global__ void k(const char* map, char* to, int bytes, int size, int c0, int c1,
                             int c2, int c3, int c4, int o0, int o1) {
  extern __shared__ __align__(1024) char s[]; __shared__ u64 bar;
  short h0 = o0, h1 = o1; (void)h0; (void)h1;
  for (int i = 0; i < size; ++i) s[i] = 0x55;
  start(&bar, bytes);
  asm volatile("cp.async.bulk.tensor.RANKd.shared::cluster.global.MODE"
    "mbarrier::complete_tx::bytes [%0], [%1, {COORDINATES}], [%2]OFFSETS;"
    :: "r"(at(s)), "l"(map), "r"(at(&bar)) ARGUMENTS : "memory");
  wait(&bar);
  for (int i = 0; i < size; ++i) to[i] = s[i];
}"""


def tensor_load(rank, mode=""):
    names = [f"%{3 + i}" for i in range(rank)]
    arguments = "".join(f', "r"(c{i})' for i in range(rank))
    offsets = ""
    if mode:
        offsets = ", {" + ", ".join(f"%{3 + rank + i}" for i in range(rank - 2)) + "}"
        arguments += "".join(f', "h"(h{i})' for i in range(rank - 2))
    text = TENSOR_LOAD.replace("RANK", str(rank)).replace("MODE", mode)
    text = text.replace("COORDINATES", ", ".join(names)).replace("OFFSETS", offsets)
    return text.replace("ARGUMENTS", arguments)


KINDS = {
    np.dtype("u1"): "UINT8", np.dtype("u2"): "UINT16", np.dtype("u4"): "UINT32",
    np.dtype("f2"): "FLOAT16", np.dtype("f4"): "FLOAT32", np.dtype("f8"): "FLOAT64",
}  # fmt: skip


@pytest.fixture
def tensor():
    """Allocate a tensor; yield a function that encodes maps of it, innermost dimension first."""
    memory = LegacyPinnedMemoryResource()
    open_buffers = []

    def make(values):
        buffer = memory.allocate(values.nbytes)
        open_buffers.append(buffer)
        np.from_dlpack(buffer).view(values.dtype)[:] = values.ravel()

        def encode(
            box, strides=None, swizzle=0, fill=0, corners=None, kind=KINDS[values.dtype], slices=0
        ):
            rank = values.ndim - bool(slices)  # a slice of channels is no axis of the map
            extents = [driver.cuuint64_t(n) for n in values.shape[:rank][::-1]]
            pitches = [driver.cuuint64_t(n) for n in values.strides[: rank - 1][::-1]]
            steps = [driver.cuuint32_t(n) for n in strides or [1] * rank]
            kind = getattr(driver.CUtensorMapDataType, f"CU_TENSOR_MAP_DATA_TYPE_{kind}")
            tail = (
                driver.CUtensorMapInterleave(slices), driver.CUtensorMapSwizzle(swizzle),
                driver.CUtensorMapL2promotion(0), driver.CUtensorMapFloatOOBfill(fill),
            )  # fmt: skip
            head = kind, rank, int(buffer.handle), extents, pitches
            if corners:
                code, result = driver.cuTensorMapEncodeIm2col(*head, *corners, *box, steps, *tail)
            else:
                sizes = [driver.cuuint32_t(n) for n in box]
                code, result = driver.cuTensorMapEncodeTiled(*head, sizes, steps, *tail)
            assert code == driver.CUresult.CUDA_SUCCESS
            return np.frombuffer(ctypes.string_at(int(result.getPtr()), 128), np.uint8).copy()

        encode.buffer = buffer
        return encode

    Device().set_current()
    yield make
    for buffer in open_buffers:
        buffer.close()


def box_of(values, start, box, strides=None, fill=0):
    """Return a box of an array, innermost dimension first, with a fill outside of the array."""
    strides = strides or [1] * values.ndim
    counts = [-(-n // step) for n, step in zip(box, strides, strict=True)]
    result = np.full(counts[::-1], fill, values.dtype)
    for index in itertools.product(*(range(n) for n in counts[::-1])):
        place = [
            first + i * step
            for first, i, step in zip(start[::-1], index, strides[::-1], strict=True)
        ]
        if all(0 <= p < n for p, n in zip(place, values.shape, strict=True)):
            result[index] = values[tuple(place)]
    return result


def load(run, encoded, rank, start, result, offsets=None, part=1):
    """Load a box. The result has `part` times its bytes."""
    size = result.nbytes + 64
    target = np.zeros(size, np.uint8)
    coordinates = [*start, 0, 0, 0, 0, 0][:5]
    source = tensor_load(rank, "im2col." if offsets else "")
    offsets = [*(offsets or ()), 0, 0][:2]
    run(source, encoded, target, result.nbytes // part, size, *coordinates, *offsets)
    assert (target[result.nbytes :] == 0x55).all()
    return target[: result.nbytes].view(result.dtype).reshape(result.shape)


@pytest.mark.parametrize(
    ("shape", "box", "start"),
    [
        ((64,), (16,), (8,)),
        ((64,), (16,), (56,)),
        ((12, 32), (16, 4), (8, 3)),
        ((12, 32), (16, 4), (-8, -2)),
        ((12, 32), (16, 4), (24, 10)),
        ((12, 32), (16, 4), (104, 100)),
        ((5, 6, 16), (8, 3, 2), (8, 4, -1)),
        ((3, 5, 6, 16), (8, 3, 2, 2), (8, -1, 4, 1)),
        ((2, 3, 5, 6, 16), (8, 3, 2, 2, 2), (8, 1, 2, -1, 1)),
    ],
)
@pytest.mark.parametrize("kind", ["u2", "f4", "f8"])
def test_boxes(run, tensor, shape, box, start, kind):
    values = np.arange(1, np.prod(shape) + 1).reshape(shape).astype(kind)
    expected = box_of(values, start, box)
    assert (load(run, tensor(values)(box), len(shape), start, expected) == expected).all()


@pytest.mark.parametrize("strides", [(1, 2), (2, 1), (3, 2), (4, 3)])
def test_element_strides(run, tensor, strides):
    values = np.arange(64 * 64, dtype="u2").reshape(64, 64)
    expected = box_of(values, (8, 60), (32, 12), strides)
    encoded = tensor(values)((32, 12), strides)
    assert (load(run, encoded, 2, (8, 60), expected) == expected).all()


@pytest.mark.parametrize(("swizzle", "width"), [(1, 32), (2, 64), (3, 128)])
@pytest.mark.parametrize("part", [1, 2])
def test_swizzles(run, tensor, swizzle, width, part):
    """The rows of a box are as wide as the swizzle, as on an H100, even if the box is narrower."""
    values = np.arange(64 * 64, dtype="u2").reshape(64, 64)
    box = width // 2 // part, 16
    rows = np.full((16, width // 2), 0x5555, "u2")
    rows[:, : box[0]] = box_of(values, (0, 5), box)
    loaded = load(run, tensor(values)(box, swizzle=swizzle), 2, (0, 5), rows, part=part)
    chunks = rows.reshape(-1, 8)  # of 16 bytes, which exchange places in rows of 128 bytes
    places = np.arange(len(chunks))
    permuted = places ^ (places // 8 % (width // 16))
    assert (loaded.reshape(-1, 8)[permuted] == chunks).all()


def test_float_sums_keep_subnormal_numbers(run):
    """An H100 does so, although its atom.add.f32 flushes them."""
    a, b = np.array([[0x6D3498, 0x9CCDF781, 0x7F800000], [0x310690, 0x7FC00001, 0xFF800000]], "u4")
    target, source = np.zeros(4, "u4"), np.zeros(4, "u4")
    target[:3], source[:3] = a, b
    run(REDUCE.replace("OPERATION", "add.f32"), source, target, 16)
    assert target.tolist() == [0x9E3B28, 0x7FFFFFFF, 0x7FFFFFFF, 0]


OUTSIDE_NAN = 0x7FF7  # on an H200, for each type


def test_a_fill_of_nan(run, tensor):
    values = np.ones((4, 16), "f4")
    expected = box_of(values, (8, -1), (16, 4), fill=np.nan)
    loaded = load(run, tensor(values)((16, 4), fill=1), 2, (8, -1), expected)
    assert (np.isnan(loaded) == np.isnan(expected)).all() and np.isnan(loaded).any()
    assert (loaded[np.isnan(loaded)].view("u2") == OUTSIDE_NAN).all()


@pytest.mark.parametrize("kind", ["TFLOAT32", "TFLOAT32_FTZ"])
def test_a_load_of_tf32_rounds_to_nearest_even(run, tensor, kind):
    """The low bits 0x1000 are a tie."""
    high = np.array([0x3F800000, 0x3F802000, 0xBF804000, 0x7F7FE000], "u4")
    low = np.array([[0, 1, 0xFFF, 0x1000], [0x1001, 0x1FFF, 0x800, 0x1800]], "u4")
    values = (high[:, None] + low.reshape(1, -1)).astype("u4")
    values[3, 3:] = [0x7F800000, 0xFF800000, 0, 0x80000000, 0x00FFFFFF]
    nans = np.array([0x7F800001, 0xFFC01234, 0x7F801000, 0xFFFFFFFF, 0x7F802000, 0x7FC00000])
    upper, rest = values >> 13, values & 0x1FFF
    rises = (rest > 0x1000) | ((rest == 0x1000) & (upper & 1 == 1))
    encoded = tensor(values.view("f4"))((8, 4), kind=kind)
    loaded = load(run, encoded, 2, (0, 0), values)
    assert (loaded == (upper + rises) << 13).all()
    values[0, 2:] = nans
    encoded = tensor(values.view("f4"))((8, 4), kind=kind, fill=1)
    outside, *inside = load(run, encoded, 2, (4, -1), values)
    assert (outside.view("u2") == OUTSIDE_NAN).all()
    assert (inside[0][:4] == 0x7FFFE000).all()


@pytest.mark.parametrize(
    ("lower", "upper", "start", "offsets", "pixels", "step"),
    [
        ((0, 0), (0, 0), (0, 0, 0, 0), (0, 0), 12, 1),
        ((-1, -1), (-1, -1), (0, -1, -1, 0), (2, 1), 32, 1),
        ((-1, -1), (-1, -1), (8, 2, 1, 0), (1, 2), 64, 1),
        ((-1, -1), (-1, -1), (0, -1, -1, 0), (1, 1), 24, 2),
    ],
)
def test_images_to_columns(run, tensor, lower, upper, start, offsets, pixels, step):
    images, height, width, channels = 3, 5, 7, 16
    values = np.arange(images * height * width * channels, dtype="u2")
    values = values.reshape(images, height, width, channels)
    expected = np.zeros((pixels, 8), "u2")
    c, x, y, n = start
    for row in expected:
        place = n, y + offsets[1], x + offsets[0]
        if all(0 <= p < size for p, size in zip(place, values.shape, strict=False)):
            row[:] = values[place][c : c + 8]
        x += step
        if x > width - 1 + upper[0]:
            x, y = lower[0], y + step
        if y > height - 1 + upper[1]:
            y, n = lower[1], n + 1
    encoded = tensor(values)((8, pixels), (1, step, step, 1), corners=(list(lower), list(upper)))
    assert (load(run, encoded, 4, start, expected, offsets) == expected).all()


@pytest.mark.parametrize("slices", [1, 2])
@pytest.mark.parametrize("strides", [(1, 1, 1, 1), (2, 2, 1, 1), (1, 1, 2, 2)])
def test_a_box_of_interleaved_tensors_has_one_slice_of_channels(run, tensor, slices, strides):
    """An H200 copies one slice, whatever the size of the box along axis 2, which numbers them."""
    shape, start, box = (3, 8, 5, 12), (1, -1, 7, 1), (8, 3, 16, 2)
    count = int(np.prod(shape))
    values = np.arange(1, count * 8 * slices + 1, dtype="u2").reshape(*shape, 8 * slices)
    numbers = np.arange(1, count + 1).reshape(shape)
    places = box_of(numbers, start, (*box[:2], 1, box[3]), (*strides[:2], 1, strides[3]))
    table = np.concatenate([np.zeros((1, 8 * slices), "u2"), values.reshape(count, -1)])
    expected = table[places]
    encoded = tensor(values)(box, strides, slices=slices)
    assert (load(run, encoded, 4, start, expected) == expected).all()


# An H200 copied these 16 bytes, numbered in the order of the tensor.
@pytest.mark.parametrize(
    ("box", "start", "strides", "swizzle", "slices", "expected"),
    [
        ((4, 2, 2), (0, 3, 0), (1, 1, 1), 0, 1, [18, 19, 20, 21, 42, 43, 44, 45]),
        ((4, 2, 2), (0, 3, 0), (1, 1, 1), 1, 2, [36, 37, 38, 39, 40, 41, 42, 43,
                                                 85, 84, 87, 86, 89, 88, 91, 90]),
        ((8, 16, 2), (0, 0, 0), (1, 1, 1), 1, 2, [0, 1, 2, 3, 4, 5, 6, 7, 9, 8, 11, 10, *[-1] * 4,
                                                  *range(48, 56), 57, 56, 59, 58, *[-1] * 4]),
        ((4, 64, 1), (3, -2, -1), (1, 1, 1), 0, 1, [-1] * 4),
    ],
)  # fmt: skip
def test_recorded_interleaved_boxes(run, tensor, box, start, strides, swizzle, slices, expected):
    values = np.arange(5 * 4 * 6 * 4 * slices, dtype="u4").reshape(5, 4, 6, 4 * slices)
    bytes_ = np.zeros((len(expected), 4), "u4")
    encoded = tensor(values)(box, strides, swizzle=swizzle, slices=slices)
    loaded = load(run, encoded, 3, start, bytes_)
    units = np.concatenate([values.reshape(-1, 4), bytes_[:1]])
    assert (loaded == units[expected]).all()


@pytest.mark.parametrize(("start", "first"), [((0, 0, 0, 0), 7), ((-1, -1, 1, 1), 150)])
def test_pixels_of_interleaved_tensors(run, tensor, start, first):
    values = np.arange(3 * 4 * 5 * 6 * 8, dtype="u2").reshape(3, 4, 5, 6, 8)
    expected = values.reshape(-1, 8)[first : first + 10]
    encoded = tensor(values)((16, 10), corners=([-1, -1], [-1, -1]), slices=1)
    assert (load(run, encoded, 4, start, expected, (1, 1)) == expected).all()


CHANGED_MAP = r"""
extern "C" __global__ void k(const u64* map, u64* copy, const char* other, char* to) {
  __shared__ __align__(128) u64 s[16]; extern __shared__ __align__(128) char box[];
  __shared__ u64 bar;
  for (int i = 0; i < 16; ++i) s[i] = map[i];
  asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;"
               :: "l"((u64)at(s)), "l"(other) : "memory");
  asm volatile("tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 0, 24;"
               "tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 1, 5;"
               "tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%0], 0, 96;"
               "tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%0], 1, 3;"
               "tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%0], 2;"
               "tensormap.replace.tile.rank.shared::cta.b1024.b32 [%0], 1;"
               :: "l"((u64)at(s)) : "memory");
  asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync"
               ".aligned [%0], [%1], 128;" :: "l"(copy), "r"(at(s)) : "memory");
  asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" :: "l"(copy) : "memory");
  start(&bar, 3 * 8 * 4);
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
               " [%0], [%1, {%2, %3}], [%4];"
               :: "r"(at(box)), "l"(copy), "r"(16), "r"(3), "r"(at(&bar)) : "memory");
  wait(&bar);
  for (int i = 0; i < 96; ++i) to[i] = box[i];
}"""


def test_a_kernel_changes_a_map(run, tensor):
    encoded = tensor(np.zeros((4, 64), "u4"))((8, 2)).view("u8")
    other = np.arange(1, 121, dtype="u4").reshape(5, 24)
    target = np.zeros((3, 8), "u4")
    run(CHANGED_MAP, encoded, np.zeros(16, "u8"), other, target)
    assert (target == box_of(other, (16, 3), (8, 3))).all()


MAP_FROM_ZEROS = CHANGED_MAP.replace("s[i] = map[i]", "s[i] = 0").replace(
    "box_dim.shared::cta.b1024.b32 [%0], 1, 3;",
    """box_dim.shared::cta.b1024.b32 [%0], 0, 8;"
               "tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%0], 1, 3;"
               "tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%0], 0, 1;"
               "tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%0], 1, 1;""",
)


def test_a_kernel_builds_a_map_in_zeroed_memory(run):
    other = np.arange(1, 121, dtype="u4").reshape(5, 24)
    target = np.zeros((3, 8), "u4")
    run(MAP_FROM_ZEROS, np.zeros(16, "u8"), np.zeros(16, "u8"), other, target)
    assert (target == box_of(other, (16, 3), (8, 3))).all()


ADDRESS_OF_A_MAP = """
extern "C" __global__ void k(u64* to) {
  __shared__ u64 words[1];
  words[0] = 0;
  asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], 4096;"
               :: "r"(at(words)) : "memory");
  *to = words[0];
}"""


def test_a_change_of_one_field_accesses_its_bytes_only(run):
    target = np.zeros(1, "u8")
    run(ADDRESS_OF_A_MAP, target)
    assert target.tolist() == [4096]


TENSOR_STORE = r"""
extern "C" __global__ void k(const char* map, const char* from, int size, int c0, int c1) {
  extern __shared__ __align__(1024) char s[];
  for (int i = 0; i < size; ++i) s[i] = from[i];
  asm volatile("fence.proxy.async;");
  asm volatile("cp.KIND.tensor.2d.global.shared::cta.OPERATIONbulk_group [%0, {%1, %2}], [%3];"
               :: "l"(map), "r"(c0), "r"(c1), "r"(at(s)) : "memory");
  drain();
}"""


@pytest.mark.parametrize("start", [(0, 0), (-4, -2), (20, 6)])
@pytest.mark.parametrize("operation", ["", "add"])
def test_stores_skip_what_is_outside(run, tensor, start, operation):
    values = np.arange(8 * 24, dtype="u4").reshape(8, 24)
    source = np.arange(100, 132, dtype="u4").reshape(4, 8)
    encode = tensor(values)
    text = TENSOR_STORE.replace("KIND", "reduce.async.bulk" if operation else "async.bulk")
    text = text.replace("OPERATION", f"{operation}." if operation else "")
    run(text, encode((8, 4)), source, source.nbytes, *start)
    expected = values.copy()
    for (y, x), value in np.ndenumerate(source):
        place = y + start[1], x + start[0]
        if 0 <= place[0] < 8 and 0 <= place[1] < 24:
            expected[place] = value + (expected[place] if operation else 0)
    assert (np.from_dlpack(encode.buffer).view("u4").reshape(8, 24) == expected).all()


def test_sums_of_flushed_types(run, tensor):
    """Maps of these types flush subnormal numbers, as on an H200."""
    text = TENSOR_STORE.replace("KIND", "reduce.async.bulk").replace("OPERATION", "add.")
    old = np.array([[0, 3, 0xFF800000, 0x80000000, 0x00400000, 0, 1, 0x7F800001]], "u4")
    new = np.array([[0x1000, 0x807FFFFF, 1, 0x80000000, 0x3F800000, 0x00800000, 1, 0]], "u4")
    exact = [0x1000, 0x807FFFFC, 0xFF800000, 0x80000000, 0x3F800000, 0x00800000, 2, 0x7FFFFFFF]
    flushed = [0, 0, 0xFF800000, 0x80000000, 0x3F800000, 0x00800000, 0, 0x7FFFFFFF]
    for kind, expected in (("FLOAT32", exact), ("FLOAT32_FTZ", flushed), ("TFLOAT32_FTZ", flushed)):
        encode = tensor(old.view("f4"))
        run(text, encode((8, 1), kind=kind), new, new.nbytes, 0, 0)
        assert np.from_dlpack(encode.buffer).view("u4").tolist() == expected


LATE = """
import numpy as np
from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, ObjectCode, launch
device = Device()
device.set_current()
ptx = '''.version 8.0
.target sm_90
.address_size 64
.visible .entry run(.param .u64 words) {
    .shared .align 16 .b8 memory[64]; .shared .align 8 .b64 bar;
    .reg .b32 a; .reg .b64 g; .reg .pred p;
    ld.param.u64 g, [words]; st.shared.b32 [memory], 7;
    mbarrier.init.shared.b64 [bar], 1; mbarrier.arrive.expect_tx.shared.b64 _, [bar], 16;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [memory], [g], 16, [bar];
    ld.shared.b32 a, [memory]; st.global.b32 [g+16], a;
    again: mbarrier.try_wait.parity.shared.b64 p, [bar], 0; @!p bra again;
    ld.shared.b32 a, [memory]; st.global.b32 [g+20], a;
    cp.async.bulk.global.shared::cta.bulk_group [g+32], [memory], 16; cp.async.bulk.commit_group;
    ld.global.b32 a, [g+32]; st.global.b32 [g+24], a;
    cp.async.bulk.wait_group 0;
    ld.global.b32 a, [g+32]; st.global.b32 [g+28], a;
    st.shared.b32 [memory+16], 7; mbarrier.init.shared.b64 [bar], 1;
    cp.async.ca.shared.global [memory+16], [g], 4;
    cp.async.mbarrier.arrive.noinc.shared.b64 [bar];
    ld.shared.b32 a, [memory+16]; st.global.b32 [g+48], a;
    more: mbarrier.try_wait.parity.shared.b64 p, [bar], 0; @!p bra more;
    ld.shared.b32 a, [memory+16]; st.global.b32 [g+52], a; ret; }'''
kernel = ObjectCode.from_ptx(ptx.encode()).get_kernel("run")
buffer = LegacyPinnedMemoryResource().allocate(64)
words = np.from_dlpack(buffer).view(np.uint32)
words[:] = 0
words[0] = 1
stream = device.create_stream()
launch(stream, LaunchConfig(grid=1, block=1), kernel, buffer)
stream.sync()
print(*words[4:8], *words[12:14])
"""


@pytest.mark.parametrize(
    ("mode", "expected"), [("adversarial", "7 1 0 1 7 1"), ("eager", "1 1 1 1 1 1")]
)
def test_a_read_before_the_wait(run_emulated, mode, expected):
    assert run_emulated(LATE, mode=mode).stdout.strip() == expected


FAULT = """
from cuda.core import Device, LaunchConfig, ObjectCode, launch
device = Device()
device.set_current()
buffer = device.allocate(64)
ptx = '''.version 8.0
.target sm_90
.address_size 64
.visible .entry run(.param .u64 words) {{
    .shared .align 128 .b8 memory[64]; .shared .align 8 .b64 bar; .reg .b64 g; .reg .b32 c;
    ld.param.u64 g, [words]; mbarrier.init.shared.b64 [bar], 1; mov.u32 c, 0;
    {body} ret; }}'''
kernel = ObjectCode.from_ptx(ptx.encode()).get_kernel("run")
stream = device.create_stream()
launch(stream, LaunchConfig(grid=1, block=1), kernel, buffer)
stream.sync()
"""
LOADS = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
MISUSES = {
    "a size that is no multiple of 16": (
        f"mov.u32 c, 8; {LOADS} [memory], [g], c, [bar];", "misaligned"),
    "a source that is not aligned": (f"{LOADS} [memory], [g+4], 16, [bar];", "misaligned"),
    "a source outside of the memory": (f"{LOADS} [memory], [g+48], 32, [bar];", "out-of-bounds"),
    "a target outside of the memory": (f"{LOADS} [memory+64], [g], 32, [bar];", "out-of-bounds"),
    "a block outside of the cluster": (
        f"{LOADS}.multicast::cluster [memory], [g], 16, [bar], 3;", "cluster 1 blocks"),
    "a store outside of the memory": (
        "cp.async.bulk.global.shared::cta.bulk_group [g+64], [memory], 16;", "out-of-bounds"),
    "no tensor map": (
        "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes"
        " [memory], [g, {{c}}], [bar];", "out-of-bounds"),
}  # fmt: skip


@pytest.mark.parametrize("case", MISUSES)
def test_a_misuse_is_a_fault(run_emulated, case):
    body, words = MISUSES[case]
    body = body.replace("{{", "{").replace("}}", "}")
    assert words in run_emulated(FAULT.format(body=body), status=1).stderr


UNFINISHED_MAP = """
    .reg .b64 m, z; mov.u64 m, memory; cvta.shared.u64 m, m; mov.u64 z, 0;
    STORES
    tensormap.replace.tile.rank.shared::cta.b1024.b32 [memory], 0;
    tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [memory], 0, 16;
    cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes
      [memory], [m, {c}], [bar];""".replace(
    "STORES", "".join(f"st.shared.u64 [memory+{n}], z;" for n in range(0, 128, 8))
)


def test_a_map_without_a_box_is_a_fault(run_emulated):
    text = FAULT.replace("sm_90", "sm_90a").replace("8.0", "8.3").replace("[64];", "[128];")
    done = run_emulated(text.format(body=UNFINISHED_MAP), status=1)
    assert "there is no tensor map" in done.stderr
