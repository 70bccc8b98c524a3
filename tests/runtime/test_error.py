# SPDX-License-Identifier: Apache-2.0
"""The last error of each thread, and the names of codes."""

import threading

import pytest
from cuda.bindings import driver, runtime

from .conftest import ok

Error = runtime.cudaError_t


def fail():
    assert runtime.cudaSetDevice(-1)[0] == Error.cudaErrorInvalidDevice


def test_the_last_error_is_returned_once():
    fail()
    assert runtime.cudaGetLastError() == (Error.cudaErrorInvalidDevice,)
    assert runtime.cudaGetLastError() == (Error.cudaSuccess,)


def test_peeking_keeps_the_last_error():
    fail()
    assert runtime.cudaPeekAtLastError() == runtime.cudaPeekAtLastError()
    assert runtime.cudaGetLastError() == (Error.cudaErrorInvalidDevice,)


def test_a_success_keeps_the_last_error():
    fail()
    ok(runtime.cudaGetDevice())
    assert runtime.cudaGetLastError() == (Error.cudaErrorInvalidDevice,)


def test_a_later_error_replaces_an_earlier_one():
    fail()
    assert runtime.cudaMemset(0, 0, 4)[0] == Error.cudaErrorInvalidValue
    assert runtime.cudaGetLastError() == (Error.cudaErrorInvalidValue,)


def test_a_driver_error_is_no_runtime_error():
    assert driver.cuMemFree(12345)[0] == driver.CUresult.CUDA_ERROR_INVALID_VALUE
    assert runtime.cudaGetLastError() == (Error.cudaSuccess,)


def test_each_thread_has_its_own_last_error():
    fail()
    seen = []
    other = threading.Thread(target=lambda: seen.append(runtime.cudaGetLastError()[0]))
    other.start()
    other.join()
    assert seen == [Error.cudaSuccess]
    assert runtime.cudaGetLastError() == (Error.cudaErrorInvalidDevice,)


@pytest.mark.parametrize("code", list(Error), ids=lambda code: code.name)
def test_every_code_has_its_name_and_a_text(code):
    assert ok(runtime.cudaGetErrorName(code)) == code.name.encode()
    assert ok(runtime.cudaGetErrorString(code))


TEXTS = {0: b"no error", 2: b"out of memory", 9: b"invalid configuration argument"}


@pytest.mark.parametrize("code", TEXTS)
def test_texts_are_those_that_programs_compare(code):
    assert ok(runtime.cudaGetErrorString(code)) == TEXTS[code]


def test_an_unknown_code_is_reported_as_unrecognized():
    assert ok(runtime.cudaGetErrorName(54321)) == b"unrecognized error code"
    assert ok(runtime.cudaGetErrorString(54321)) == b"unrecognized error code"
