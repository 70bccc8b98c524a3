# SPDX-License-Identifier: Apache-2.0
"""Copies of boxes between memory and arrays, compared with NumPy, and the limits of each member."""

import itertools

import numpy as np
import pytest
from cuda.bindings import driver as cu

pytestmark = pytest.mark.usefixtures("emulated", "driver")
HOST, DEVICE, ARRAY, UNIFIED = (cu.CUmemorytype(number) for number in (1, 2, 3, 4))
INVALID_VALUE = cu.CUresult.CUDA_ERROR_INVALID_VALUE
DEPTH, ROWS, PITCH = 3, 5, 32  # of each area, in bytes


def ok(result):
    code, *outputs = result
    assert int(code) == 0, code
    return outputs[0] if outputs else None


class Area:
    """Bytes of one kind of memory, as an array of slices, rows and bytes."""

    def __init__(self, kind, seed):
        self.kind, size = kind, DEPTH * ROWS * PITCH
        generator = np.random.default_rng(seed)
        self.bytes = generator.integers(0, 256, (DEPTH, ROWS, PITCH), dtype=np.uint8)
        self.array = self.address = None
        if kind == ARRAY:
            description = cu.CUDA_ARRAY3D_DESCRIPTOR()
            description.Width, description.Height, description.Depth = PITCH // 4, ROWS, DEPTH
            description.Format = cu.CUarray_format.CU_AD_FORMAT_UNSIGNED_INT32
            description.NumChannels = 1
            self.array = ok(cu.cuArray3DCreate(description))
        elif kind == HOST:
            self.memory = self.bytes.copy()
            self.address = self.memory.ctypes.data
        else:
            self.address = int(ok(cu.cuMemAlloc(size)))
        if kind != HOST:
            self.move(self.bytes, into=True)

    def move(self, values, *, into):
        """Copy all bytes to or from the host by one box of three dimensions."""
        other, box = ("dst", "src") if into else ("src", "dst"), cu.CUDA_MEMCPY3D()
        own, host = other
        self.name(box, own)
        setattr(box, f"{host}MemoryType", HOST)
        setattr(box, f"{host}Host", values.ctypes.data)
        setattr(box, f"{host}Pitch", PITCH)
        setattr(box, f"{host}Height", ROWS)
        box.WidthInBytes, box.Height, box.Depth = PITCH, ROWS, DEPTH
        ok(cu.cuMemcpy3D(box))

    def name(self, box, side, at=(0, 0, 0)):
        """Make the area a side of a copy."""
        setattr(box, f"{side}MemoryType", self.kind)
        if self.kind == ARRAY:
            setattr(box, f"{side}Array", self.array)
        else:
            setattr(box, f"{side}{'Host' if self.kind == HOST else 'Device'}", self.address)
            setattr(box, f"{side}Pitch", PITCH)
        if hasattr(box, f"{side}Z"):
            setattr(box, f"{side}Height", ROWS)
            setattr(box, f"{side}Z", at[2])
        setattr(box, f"{side}XInBytes", at[0])
        setattr(box, f"{side}Y", at[1])

    def read(self):
        if self.kind == HOST:
            return self.memory
        values = np.empty_like(self.bytes)
        self.move(values, into=False)
        return values

    def close(self):
        if self.kind == ARRAY:
            ok(cu.cuArrayDestroy(self.array))
        elif self.kind != HOST:
            ok(cu.cuMemFree(self.address))


@pytest.fixture
def areas():
    created = []

    def make(*kinds):
        pair = [Area(kind, seed) for seed, kind in enumerate(kinds)]
        created.extend(pair)
        return pair

    yield make
    ok(cu.cuCtxSynchronize())
    for each in created:
        each.close()


KINDS = list(itertools.product((HOST, DEVICE, ARRAY, UNIFIED), repeat=2))
BOXES = {  # the places in source and target, and the extent
    "one byte row": ((4, 1, 2), (8, 3, 0), (12, 1, 1)),
    "rows": ((0, 2, 1), (20, 0, 2), (12, 3, 1)),
    "slices": ((16, 0, 1), (4, 4, 0), (8, 1, 2)),
    "a box": ((4, 1, 0), (16, 2, 1), (16, 3, 2)),
    "all": ((0, 0, 0), (0, 0, 0), (PITCH, ROWS, DEPTH)),
}


def expected(source, target, box):
    (x, y, z), (to_x, to_y, to_z), (width, rows, slices) = box
    result = target.bytes.copy()
    part = source.bytes[z : z + slices, y : y + rows, x : x + width]
    result[to_z : to_z + slices, to_y : to_y + rows, to_x : to_x + width] = part
    return result


@pytest.mark.parametrize("kinds", KINDS, ids=lambda pair: "-".join(k.name[14:] for k in pair))
def test_a_box_is_copied_to_its_place(areas, kinds):
    for box in BOXES.values():
        for is_peer in (False, True):
            source, target = areas(*kinds)
            from_, to, extent = box
            copy = cu.CUDA_MEMCPY3D_PEER() if is_peer else cu.CUDA_MEMCPY3D()
            source.name(copy, "src", from_)
            target.name(copy, "dst", to)
            copy.WidthInBytes, copy.Height, copy.Depth = extent
            if is_peer:
                copy.srcContext = copy.dstContext = ok(cu.cuCtxGetCurrent())
            ok((cu.cuMemcpy3DPeer if is_peer else cu.cuMemcpy3D)(copy))
            ok(cu.cuCtxSynchronize())
            assert np.array_equal(target.read(), expected(source, target, box)), box


@pytest.mark.parametrize("kinds", KINDS, ids=lambda pair: "-".join(k.name[14:] for k in pair))
def test_a_rectangle_is_copied_in_the_first_slice(areas, kinds):
    source, target = areas(*kinds)
    copy = cu.CUDA_MEMCPY2D()
    source.name(copy, "src", (4, 1, 0))
    target.name(copy, "dst", (12, 2, 0))
    copy.WidthInBytes, copy.Height = 20, 3
    ok(cu.cuMemcpy2D(copy))
    ok(cu.cuCtxSynchronize())
    box = (4, 1, 0), (12, 2, 0), (20, 3, 1)
    assert np.array_equal(target.read(), expected(source, target, box))


# Members of a copy between two areas with a value that is refused, the same with one that is not.
LIMITS = [
    ({"srcPitch": 19}, {"srcPitch": 20}, DEVICE),
    ({"dstPitch": 19}, {"dstPitch": 20}, DEVICE),
    ({"srcXInBytes": 4, "srcPitch": 23}, {"srcXInBytes": 4, "srcPitch": 24}, DEVICE),
    ({"srcHeight": 1}, {"srcHeight": 2}, DEVICE),
    ({"dstHeight": 1}, {"dstHeight": 2}, DEVICE),
    ({"srcY": 1, "srcHeight": 2}, {"srcY": 1, "srcHeight": 3}, DEVICE),
    ({"Height": 1, "Depth": 2, "srcPitch": 19}, {"Height": 1, "Depth": 2}, DEVICE),
    ({"Height": 1, "Depth": 1, "srcY": 1, "srcPitch": 19}, {"Height": 1, "Depth": 1}, DEVICE),
    ({"Height": 1, "Depth": 1, "srcZ": 1, "srcPitch": 19}, {"Height": 1, "Depth": 1}, DEVICE),
    ({"Depth": 1, "srcZ": 1, "srcHeight": 1}, {"Depth": 1, "srcHeight": 1}, DEVICE),
    ({"srcLOD": 1}, {"srcLOD": 0}, DEVICE),
    ({"dstLOD": 1}, {"dstLOD": 0}, DEVICE),
    ({"srcMemoryType": 0}, {}, DEVICE),
    ({"srcMemoryType": 5}, {}, DEVICE),
    ({"srcXInBytes": 16}, {"srcXInBytes": 12}, ARRAY),
    ({"srcY": 4}, {"srcY": 3}, ARRAY),
    ({"srcZ": 2}, {"srcZ": 1}, ARRAY),
    ({"dstXInBytes": 16}, {"dstXInBytes": 12}, ARRAY),
    ({"dstY": 4}, {"dstY": 3}, ARRAY),
    ({"dstZ": 2}, {"dstZ": 1}, ARRAY),
    ({"srcXInBytes": 2}, {"srcXInBytes": 4}, ARRAY),
    ({"WidthInBytes": 18}, {"WidthInBytes": 16}, ARRAY),
    ({"srcY": 6}, {"srcY": 0}, ARRAY),
    ({"srcPitch": 1, "srcHeight": 0, "WidthInBytes": 21}, {"srcPitch": 1, "srcHeight": 0}, ARRAY),
]


@pytest.mark.parametrize(("refused", "accepted", "kind"), LIMITS, ids=str)
def test_a_box_beyond_a_limit_is_refused(areas, refused, accepted, kind):
    source, target = areas(kind, kind)

    def copy(members):
        box = cu.CUDA_MEMCPY3D()
        source.name(box, "src")
        target.name(box, "dst")
        box.WidthInBytes, box.Height, box.Depth = 20, 2, 2
        for name, value in members.items():
            is_type = name.endswith("Type")
            if is_type and value not in set(map(int, cu.CUmemorytype)):
                words = np.ctypeslib.as_array((np.ctypeslib.ctypes.c_uint * 50).from_address(
                    box.getPtr()))  # fmt: skip
                words[8] = value  # srcMemoryType, behind four 64-bit members
                break
            setattr(box, name, value)
        return cu.cuMemcpy3D(box)[0]

    assert copy(accepted) == 0
    assert copy(refused) == INVALID_VALUE
    ok(cu.cuCtxSynchronize())


def test_an_empty_box_is_copied_anywhere(areas):
    source, target = areas(DEVICE, DEVICE)
    for member in ("WidthInBytes", "Height", "Depth"):
        box = cu.CUDA_MEMCPY3D()
        source.name(box, "src")
        target.name(box, "dst")
        box.WidthInBytes, box.Height, box.Depth = 1 << 20, 4, 4
        box.srcPitch = box.dstPitch = 1 << 20
        setattr(box, member, 0)
        ok(cu.cuMemcpy3D(box))
    ok(cu.cuCtxSynchronize())
    assert np.array_equal(target.read(), target.bytes)


def test_bytes_of_a_row_are_copied_between_the_host_and_an_array(areas):
    """Only such copies may end inside an element."""
    (array,) = areas(ARRAY)
    received = np.zeros(7, np.uint8)
    ok(cu.cuMemcpyAtoH(received.ctypes.data, array.array, 3, 7))
    assert np.array_equal(received, array.bytes[0, 0, 3:10])
    sent = np.arange(5, dtype=np.uint8)
    ok(cu.cuMemcpyHtoA(array.array, 9, sent.ctypes.data, 5))
    assert np.array_equal(array.read()[0, 0, 9:14], sent)
    memory = int(ok(cu.cuMemAlloc(64)))
    assert cu.cuMemcpyAtoD(memory, array.array, 3, 8)[0] == INVALID_VALUE
    assert cu.cuMemcpyDtoA(array.array, 4, memory, 7)[0] == INVALID_VALUE
    ok(cu.cuMemcpyAtoD(memory, array.array, 4, 8))
    ok(cu.cuMemFree(memory))
