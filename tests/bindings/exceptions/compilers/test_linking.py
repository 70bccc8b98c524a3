# SPDX-License-Identifier: Apache-2.0
"""nvjitlink at work: PTX and LTO-IR become cubins and PTX, and the log explains a failed link."""

import pytest

ELF = b"\x7fELF"

UNDEFINED = b""".version 8.0
.target sm_90
.address_size 64
.extern .func missing;
.visible .entry caller() { call missing; ret; }
\0"""


@pytest.fixture
def make(nvjitlink):
    """``make(*options)``: a link that is destroyed at the end."""
    handles = []

    def create(*options):
        handles.append(nvjitlink.create(len(options), list(options)))
        return handles[-1]

    yield create
    for handle in handles:
        nvjitlink.destroy(handle)


@pytest.fixture
def fetch(nvjitlink):
    """``fetch("linked_cubin", handle)``: a sized output of a link, as bytes."""

    def get(output_name, handle):
        size = getattr(nvjitlink, f"get_{output_name}_size")(handle)
        output = bytearray(size)
        assert getattr(nvjitlink, f"get_{output_name}")(handle, output) is None
        return bytes(output)

    return get


@pytest.fixture
def lto_ir():
    """A kernel as LTO-IR, from the run-time compiler."""
    from cuda.bindings import nvrtc

    source = b'extern "C" __global__ void twice(int* p) { *p *= 2; }'
    error, program = nvrtc.nvrtcCreateProgram(source, b"twice.cu", 0, [], [])
    if error:
        pytest.skip("nvrtc is not installed")
    options = [b"-arch=sm_90", b"-dlto"]
    assert nvrtc.nvrtcCompileProgram(program, len(options), options) == (0,)
    _, size = nvrtc.nvrtcGetLTOIRSize(program)
    code = bytearray(size)
    assert nvrtc.nvrtcGetLTOIR(program, code) == (0,)
    nvrtc.nvrtcDestroyProgram(program)
    return code


def test_a_handle_is_a_nonzero_int(make):
    handle = make("-arch=sm_90")
    assert type(handle) is int and handle != 0


def test_the_version_is_a_pair_of_ints(nvjitlink):
    major, minor = nvjitlink.version()
    assert major >= 12 and minor >= 0


def test_ptx_is_linked_to_a_cubin(nvjitlink, make, fetch, ptx):
    link = make("-arch=sm_90")
    assert nvjitlink.add_data(link, nvjitlink.InputType.PTX, ptx, len(ptx), "store.ptx") is None
    assert nvjitlink.complete(link) is None
    assert fetch("linked_cubin", link).startswith(ELF)


def test_options_are_str_or_bytes_in_any_sequence(make):
    assert make("-arch=sm_90", "-O3") and make(b"-arch=sm_90")


def test_options_may_be_the_address_of_an_array(nvjitlink):
    import ctypes

    texts = (ctypes.c_char_p * 1)(b"-arch=sm_90")
    nvjitlink.destroy(nvjitlink.create(1, ctypes.addressof(texts)))


def test_lto_ir_is_linked_to_a_cubin_or_ptx(nvjitlink, make, fetch, lto_ir):
    for options, output_name, begins in (
        (("-arch=sm_90", "-lto"), "linked_cubin", ELF),
        (("-arch=sm_90", "-lto", "-ptx"), "linked_ptx", b"//"),
    ):
        link = make(*options)
        nvjitlink.add_data(link, nvjitlink.InputType.LTOIR, lto_ir, len(lto_ir), "twice.ltoir")
        nvjitlink.complete(link)
        assert fetch(output_name, link).lstrip().startswith(begins)


def test_a_buffer_is_any_contiguous_object_or_an_address(nvjitlink, make, ptx):
    import ctypes

    memory = ctypes.create_string_buffer(ptx, len(ptx))
    for value in (bytearray(ptx), memoryview(ptx), memory, ctypes.addressof(memory)):
        link = make("-arch=sm_90")
        nvjitlink.add_data(link, nvjitlink.InputType.PTX, value, len(ptx), "store.ptx")
        nvjitlink.complete(link)


def test_a_file_is_added_by_its_path(nvjitlink, make, fetch, ptx, tmp_path):
    path = tmp_path / "störe.ptx"
    path.write_bytes(ptx[:-1])
    link = make("-arch=sm_90")
    nvjitlink.add_file(link, nvjitlink.InputType.PTX, str(path))
    nvjitlink.complete(link)
    assert fetch("linked_cubin", link).startswith(ELF)


def test_a_failed_link_raises_and_writes_a_log(nvjitlink, make, fetch):
    link = make("-arch=sm_90")
    with pytest.raises(nvjitlink.nvJitLinkError, match="get_error_log") as caught:
        nvjitlink.add_data(link, nvjitlink.InputType.PTX, UNDEFINED, len(UNDEFINED), "caller.ptx")
        nvjitlink.complete(link)
    assert caught.value.status != 0
    assert b"missing" in fetch("error_log", link)


def test_a_buffer_that_is_too_small_for_the_log_is_refused(nvjitlink, make):
    link = make("-arch=sm_90")
    with pytest.raises(nvjitlink.nvJitLinkError):
        nvjitlink.add_file(link, nvjitlink.InputType.PTX, "/nowhere/at/all.ptx")
    needed = nvjitlink.get_error_log_size(link)
    with pytest.raises(ValueError, match=rf"argument 'log': expected a buffer of {needed} bytes"):
        nvjitlink.get_error_log(link, bytearray(1))
    assert nvjitlink.get_error_log(link, bytearray(needed + 10)) is None
