# SPDX-License-Identifier: Apache-2.0
"""nvfatbin at work: entries for architectures become one fat binary."""

import pytest

MAGIC = (0xBA55ED50).to_bytes(4, "little")


@pytest.fixture
def fatbin(nvfatbin):
    handle = nvfatbin.create(["-64", "-host=linux"], 2)
    yield handle
    nvfatbin.destroy(handle)


def written(nvfatbin, fatbin):
    buffer = bytearray(nvfatbin.size(fatbin))
    assert nvfatbin.get(fatbin, buffer) is None
    return bytes(buffer)


def test_the_version_is_a_pair_of_ints(nvfatbin):
    major, minor = nvfatbin.version()
    assert major >= 12 and minor >= 0


def test_ptx_is_packed_into_a_fat_binary(nvfatbin, fatbin, ptx):
    assert nvfatbin.add_ptx(fatbin, ptx, len(ptx), "90", "store", "") is None
    assert written(nvfatbin, fatbin).startswith(MAGIC)


def test_a_linked_cubin_is_packed_into_a_fat_binary(nvfatbin, nvjitlink, fatbin, ptx):
    link = nvjitlink.create(1, ["-arch=sm_90"])
    nvjitlink.add_data(link, nvjitlink.InputType.PTX, ptx, len(ptx), "store.ptx")
    nvjitlink.complete(link)
    cubin = bytearray(nvjitlink.get_linked_cubin_size(link))
    nvjitlink.get_linked_cubin(link, cubin)
    nvjitlink.destroy(link)
    nvfatbin.add_cubin(fatbin, cubin, len(cubin), "90", "store")
    binary = written(nvfatbin, fatbin)
    assert binary.startswith(MAGIC) and b"ELF" in binary


def test_invalid_ptx_is_refused(nvfatbin, fatbin):
    with pytest.raises(nvfatbin.nvFatbinError, match="'.version 8.0'") as caught:
        nvfatbin.add_ptx(fatbin, b"nothing\0", 8, "90", "store", "")
    assert caught.value.status == nvfatbin.Result.ERROR_MISSING_PTX_VERSION


def test_a_buffer_smaller_than_the_binary_is_refused(nvfatbin, fatbin, ptx):
    nvfatbin.add_ptx(fatbin, ptx, len(ptx), "90", "store", "")
    with pytest.raises(ValueError, match=r"argument 'buffer': .* the size from nvfatbin.size\(\)"):
        nvfatbin.get(fatbin, bytearray(4))


def test_error_strings_are_str(nvfatbin):
    assert isinstance(nvfatbin.get_error_string(nvfatbin.Result.ERROR_INVALID_ARCH), str)
