# SPDX-License-Identifier: Apache-2.0
"""Python's calling conventions, as far as the function tables implement them."""

import ctypes
import inspect

import pytest
from cuda.bindings import driver, nvml, runtime


@pytest.fixture
def attribute(calls):
    return calls("cuDeviceGetAttribute", ctypes.c_void_p, ctypes.c_int, ctypes.c_int)


@pytest.mark.parametrize(
    ("args", "keywords"),
    [
        ((7, 8), {}),
        ((7,), {"dev": 8}),
        ((), {"attrib": 7, "dev": 8}),
        ((), {"dev": 8, "attrib": 7}),
    ],
)
def test_parameters_are_positional_or_named(attribute, args, keywords):
    driver.cuDeviceGetAttribute(*args, **keywords)
    assert attribute[0][1:] == (7, 8)


def test_a_name_that_is_not_interned_is_found(attribute):
    driver.cuDeviceGetAttribute(7, **{"".join(["d", "e", "v"]): 8})
    assert attribute[0][1:] == (7, 8)


@pytest.mark.parametrize(
    ("args", "keywords", "message"),
    [
        ((), {}, r"missing required argument 'attrib' \(position 1\)"),
        ((1,), {}, r"missing required argument 'dev' \(position 2\)"),
        ((1, 2, 3), {}, "takes 2 arguments but 3 were given"),
        ((1, 2), {"dev": 3}, "multiple values for argument 'dev'"),
        ((1,), {"device": 3}, "unexpected keyword argument 'device'"),
        ((1,), {"dev": 2, "attrib": 3}, "multiple values for argument 'attrib'"),
    ],
)
def test_a_wrong_call_names_the_mistake(attribute, args, keywords, message):
    with pytest.raises(TypeError, match=r"^cuDeviceGetAttribute\(\) .*" + message):
        driver.cuDeviceGetAttribute(*args, **keywords)
    assert attribute == []


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: driver.cuCtxGetCurrent(1), "cuCtxGetCurrent() takes 0 arguments but 1 was given"),
        (lambda: driver.cuInit(1, 2), "cuInit() takes 1 argument but 2 were given"),
        (lambda: runtime.dim3(1, 2, 3), "dim3() takes at most 1 positional argument (3 given)"),
        (
            lambda: driver.CUstream(1, 2, 3),
            "CUstream() takes at most 2 positional arguments (3 given)",
        ),
        (lambda: nvml.Memory(1), "Memory() takes at most 0 positional arguments (1 given)"),
        (
            lambda: nvml.ProcessInfo(1, 2),
            "ProcessInfo() takes at most 1 positional argument (2 given)",
        ),
        (lambda: driver.sizeof(), "sizeof() missing required argument 'objType' (position 1)"),
        (lambda: driver.sizeof(1, 2), "sizeof() takes 1 argument but 2 were given"),
        (lambda: driver.sizeof(type=1), "sizeof() got an unexpected keyword argument 'type'"),
    ],
)
def test_a_wrong_number_of_arguments_is_reported(call, message):
    with pytest.raises(TypeError) as caught:
        call()
    assert str(caught.value) == message


def test_a_trailing_count_may_be_omitted(put):
    capacities = []

    def get(_graph, nodes, count):
        capacities.append((nodes, ctypes.c_size_t.from_address(count).value))

    put("cuGraphGetNodes", get, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
    driver.cuGraphGetNodes(1)
    driver.cuGraphGetNodes(1, 0)
    driver.cuGraphGetNodes(1, numNodes=2)
    assert [count for _, count in capacities] == [0, 0, 2]
    assert capacities[0][0] is None
    assert capacities[2][0] is not None


def test_signatures_equal_the_tables():
    assert str(inspect.signature(driver.cuDeviceGetAttribute)) == "(attrib, dev)"
    assert str(inspect.signature(driver.cuGraphGetNodes)) == "(hGraph, numNodes=0)"
    assert str(inspect.signature(driver.cuCtxGetCurrent)) == "()"
    assert str(inspect.signature(driver.sizeof)) == "(objType)"


def test_constructors_have_signatures():
    assert str(inspect.signature(driver.CUstream)) == "(init_value=0, _ptr=0)"
    address, *fields = inspect.signature(driver.CUlaunchConfig).parameters.values()
    assert str(address) == "_ptr=0"
    assert {f.kind for f in fields} == {inspect.Parameter.KEYWORD_ONLY}
    assert fields[0].name == "gridDimX"
    assert driver.CUstream.__doc__.startswith("A handle")


def test_documentation_has_no_signature_line():
    assert not driver.cuInit.__doc__.startswith("cuInit")
    assert "Returns" in driver.cuInit.__doc__
