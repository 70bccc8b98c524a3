# SPDX-License-Identifier: Apache-2.0
"""cuFile's functions over a C library whose results each test defines."""

import ctypes
import errno
import pickle

import pytest
from cuda.bindings import cufile, driver

POINTER, SIZE = ctypes.c_void_p, ctypes.c_size_t
STATUS = ctypes.c_uint64  # CUfileError_t: the status, then the CUDA status


def test_a_failure_carries_both_statuses(put):
    put("cuFileDriverOpen", lambda: 5011 | 3 << 32, result=STATUS)
    with pytest.raises(cufile.cuFileError) as caught:
        cufile.driver_open()
    assert (caught.value.status, caught.value.cuda_error) == (5011, 3)
    text = "CUDA_DRIVER_ERROR (5011); CUDA status: CUDA_ERROR_NOT_INITIALIZED (3)"
    assert str(caught.value) == text


def test_a_failure_without_a_cuda_status(put):
    put("cuFileDriverOpen", lambda: 5001, result=STATUS)
    with pytest.raises(cufile.cuFileError, match=r"DRIVER_NOT_INITIALIZED \(5001\)") as caught:
        cufile.driver_open()
    assert caught.value.cuda_error is None
    assert cufile.op_status_error(5001) in caught.value.__notes__[0]


@pytest.mark.parametrize(
    ("status", "cuda_status", "text"),
    [
        (5999, 0, "UNKNOWN_5999 (5999)"),
        (4999, 0, "Unknown error 4999 (errno 4999)"),
        (0xFFFF_FFF9, 0, "UNKNOWN_-7 (-7)"),
        (5011, 12345, "CUDA_DRIVER_ERROR (5011); CUDA status: UNKNOWN_12345 (12345)"),
        (errno.EPERM, 0, "Operation not permitted (errno 1)"),
    ],
)
def test_a_status_without_a_name(put, status, cuda_status, text):
    put("cuFileDriverOpen", lambda: status | cuda_status << 32, result=STATUS)
    with pytest.raises(cufile.cuFileError) as caught:
        cufile.driver_open()
    assert str(caught.value) == text


def test_success_returns_the_requested_value(put):
    def version(p):
        ctypes.c_int.from_address(p).value = 1200

    put("cuFileGetVersion", version, POINTER, result=STATUS)
    assert cufile.get_version() == 1200

    def value(parameter, p):
        ctypes.c_bool.from_address(p).value = parameter == 1

    put("cuFileGetParameterBool", value, ctypes.c_int, POINTER, result=STATUS)
    assert cufile.get_parameter_bool(0) is False
    assert (
        cufile.get_parameter_bool(cufile.BoolConfigParameter.PROPERTIES_ALLOW_COMPAT_MODE) is True
    )


def test_a_text_has_the_requested_length(put):
    def text(parameter, p, n):
        ctypes.memmove(p, b"/var/log/cufile\0"[:n], min(n, 16))

    put("cuFileGetParameterString", text, ctypes.c_int, POINTER, ctypes.c_int, result=STATUS)
    assert cufile.get_parameter_string(2, 100) == "/var/log/cufile"
    assert cufile.get_parameter_string(2, 4) == "/var"
    with pytest.raises(ValueError, match="length"):
        cufile.get_parameter_string(2, -1)


def test_a_file_is_registered_by_its_description(put):
    def register(handle, description):
        value = cufile.Descr.from_ptr(description, owner=description)
        assert (value.type, value.handle.fd[0]) == (1, 7)
        ctypes.c_uint64.from_address(handle).value = 99

    put("cuFileHandleRegister", register, POINTER, POINTER, result=STATUS)
    description = cufile.Descr(type=cufile.FileHandleType.OPAQUE_FD)
    description.handle.fd = 7
    assert cufile.handle_register(description) == cufile.handle_register(description.ptr) == 99


ARGUMENTS = (POINTER, POINTER, SIZE, ctypes.c_int64, ctypes.c_int64)


def test_reading_returns_the_number_of_bytes(put):
    put("cuFileRead", lambda *_: 4096, *ARGUMENTS, result=ctypes.c_int64)
    assert cufile.read(1, 2, 4096, 0, 0) == 4096


def test_reading_raises_the_status_and_system_errors(put):
    put("cuFileRead", lambda *_: -5022, *ARGUMENTS, result=ctypes.c_int64)
    with pytest.raises(cufile.cuFileError, match=r"INVALID_VALUE \(5022\)") as caught:
        cufile.read(1, 2, 4096, 0, 0)
    assert caught.value.status == 5022


def test_vectors_are_counted_and_flags_may_be_omitted(put):
    seen = []
    put(
        "cuFileReadv",
        lambda fh, iov, n, offset, flags: seen.append((n, offset, flags)) or 64,
        POINTER, POINTER, SIZE, ctypes.c_int64, ctypes.c_uint,
        result=ctypes.c_int64,
    )  # fmt: skip
    assert cufile.readv(1, cufile.IOVec(3), 8) == 64
    assert cufile.readv(1, cufile.IOVec(1), 8, flags=2) == 64
    assert seen == [(3, 8, 0), (1, 8, 2)]
    with pytest.raises(TypeError, match="expected IOVec"):
        cufile.readv(1, [1], 8)


def test_errors_can_be_constructed():
    assert cufile.cuFileError(5011, 3).cuda_error == 3
    assert cufile.cuFileError(5011).cuda_error is None
    assert cufile.cuFileError(5011, cu_err=0).cuda_error == 0
    assert f"errno {errno.EIO}" in str(cufile.cuFileError(errno.EIO))
    error = pickle.loads(pickle.dumps(cufile.cuFileError(5011, 3)))
    assert (error.status, error.cuda_error) == (5011, 3)


def test_codes_have_descriptions_and_cuda_codes_have_names():
    assert cufile.op_status_error(0) == "The call succeeded."
    assert cufile.op_status_error(77) == "A code that is not known."
    assert cufile.pyCUresult is driver.CUresult
