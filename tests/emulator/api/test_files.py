# SPDX-License-Identifier: Apache-2.0
"""Modules and libraries from files."""

import struct

import pytest
from cuda.bindings import _low, driver

LOADS = [
    lambda path: driver.cuModuleLoad(path),
    lambda path: driver.cuLibraryLoadFromFile(path, [], [], 0, [], [], 0),
]


@pytest.fixture(autouse=True)
def context():
    driver.cuInit(0)
    driver.cuCtxSetCurrent(driver.cuDevicePrimaryCtxRetain(0)[1])
    yield
    driver.cuCtxSetCurrent(None)
    driver.cuDevicePrimaryCtxRelease(0)


@pytest.mark.parametrize("load", LOADS, ids=["module", "library"])
@pytest.mark.parametrize("path", ["folder", "nothing", ""])
def test_an_unreadable_file_is_not_found(tmp_path, load, path):
    (tmp_path / "folder").mkdir()
    name = str(tmp_path / path).encode() if path else b""
    if _low.is_emulated():
        assert load(name) == (driver.CUresult.CUDA_ERROR_FILE_NOT_FOUND, None)
    else:
        assert load(name)[0] != driver.CUresult.CUDA_SUCCESS


def unload(handle):
    is_module = isinstance(handle, driver.CUmodule)
    (driver.cuModuleUnload if is_module else driver.cuLibraryUnload)(handle)


def fat_binary(ptx, padding):
    """Return a fat binary with one PTX entry, which ends in NUL bytes as nvcc's output does."""
    payload = ptx + bytes(padding)
    entry = struct.pack("<HHIQIIIIIIQQQ", 1, 0, 64, len(payload), 0, 0, 0, 75, 0, 0, 0, 0, 0)
    content = entry + payload
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(content)) + content


@pytest.mark.skipif("not _low.is_emulated()", reason="a hand-made fat binary")
@pytest.mark.parametrize("load", LOADS, ids=["module", "library"])
@pytest.mark.parametrize("padding", [1, 2, 7])
def test_a_fat_binary_that_ends_in_nul_loads_from_its_file(tmp_path, load, padding):
    ptx = b".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k() { ret; }\n"
    (tmp_path / "code.fatbin").write_bytes(fat_binary(ptx, padding))
    (tmp_path / "code.ptx").write_bytes(ptx + bytes(padding))
    for name in ("code.fatbin", "code.ptx"):
        code, handle = load(bytes(tmp_path / name))
        assert code == driver.CUresult.CUDA_SUCCESS
        unload(handle)


@pytest.mark.parametrize("load", LOADS, ids=["module", "library"])
def test_a_nul_does_not_truncate_a_path(tmp_path, load):
    path = tmp_path / "code.ptx"
    path.write_text(".version 8.0\n.target sm_75\n.address_size 64\n")
    for name in (bytes(path) + b"\0.bak", bytearray(bytes(path) + b"\0.bak")):
        with pytest.raises(ValueError, match=f"NUL at byte {len(bytes(path))}"):
            load(name)
    code, handle = load(bytes(path) + b"\0")
    assert code == driver.CUresult.CUDA_SUCCESS
    unload(handle)
