# SPDX-License-Identifier: Apache-2.0
"""The .pxd files of the runtime work for a module built elsewhere, as C and as C++."""

import pytest
from cuda.bindings import driver, runtime


@pytest.fixture(scope="module")
def foreign(import_built, cuda_headers):
    return import_built("foreign_runtime", cuda_headers)


def test_functions_are_called_without_the_gil(foreign):
    assert foreign.version() == (0, runtime.CUDART_VERSION)


def test_a_call_without_a_driver_fails_as_from_python(foreign):
    code, count = foreign.count_devices()
    expected = runtime.cudaGetDeviceCount()
    assert code == expected[0]
    assert code or count == expected[1]


def test_texts_are_returned(foreign):
    assert foreign.names() == (b"cudaErrorInsufficientDriver", runtime.cudaGetErrorString(0)[1])


def test_structs_are_returned_by_value(foreign):
    assert foreign.structs_by_value() == (1, 3, 8, 1)


def test_memory_is_allocated_copied_and_freed_on_a_device(foreign):
    assert foreign.allocate(64) == runtime.cudaGetDeviceCount()[0]


def test_types_named_by_macros_are_passed(foreign):
    assert foreign.attribute(-1)[1] == -1


def test_a_struct_of_the_pxd_is_passed_by_value(foreign):
    assert foreign.frame_is_refused()


def test_constants_equal_the_header(foreign):
    assert foreign.constants() == (runtime.CUDART_VERSION, 36, 2)


def test_types_have_their_c_sizes(foreign):
    types = (runtime.cudaGraphNodeParams, runtime.cudaLaunchAttributeValue, runtime.dim3)
    assert foreign.sizes() == (*map(runtime.sizeof, types), 4)


def test_classes_are_cimported_with_their_layout(foreign):
    stream, array = runtime.cudaStream_t(0x123), runtime.cudaArray_t(0x456)
    assert foreign.values(stream, array, runtime.dim3(y=7)) == (0x123, 0x456, 7)


def test_an_object_of_the_base_class_is_no_object_of_the_class(foreign):
    with pytest.raises(TypeError):
        foreign.values(driver.CUstream(1), runtime.cudaArray_t(), runtime.dim3())
