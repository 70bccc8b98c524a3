# SPDX-License-Identifier: Apache-2.0
"""DeviceProperties: one attribute for each row of the table, typed and cached."""

import copy
import pickle
from types import GetSetDescriptorType

import pytest
from cuda.bindings import driver
from cuda.core import Device
from cuda.core._core import DeviceProperties

NAMES = sorted(n for n, d in vars(DeviceProperties).items() if isinstance(d, GetSetDescriptorType))
CHANGING = {
    "clock_rate",
    "compute_mode",
    "kernel_exec_timeout",
    "memory_clock_rate",
    "single_to_double_precision_perf_ratio",
}


@pytest.fixture
def properties():
    return Device(0).properties


def test_the_class_cannot_be_called():
    with pytest.raises(RuntimeError, match="^DeviceProperties cannot be instantiated directly"):
        DeviceProperties()


def test_one_object_per_device(properties):
    assert Device(0).properties is properties


def test_dir_shows_only_the_attributes(properties):
    public = [name for name in dir(properties) if not name.startswith("_")]
    assert public == NAMES
    assert len(public) == 143


def test_there_are_88_numbers_and_55_booleans(properties):
    values = properties.as_dict().values()
    assert sum(type(value) is bool for value in values) == 55
    assert sum(type(value) is int for value in values) == 88


@pytest.mark.parametrize("name", NAMES)
def test_each_equals_the_driver_attribute_of_its_name(properties, name):
    attribute = getattr(driver.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name.upper()}")
    error, value = driver.cuDeviceGetAttribute(attribute, 0)
    if error == driver.CUresult.CUDA_ERROR_INVALID_VALUE:
        value = {"mem_sync_domain_count": 1, "host_numa_id": -1}.get(name, 0)
    if name not in CHANGING:
        assert getattr(properties, name) == value
    assert properties[name] == getattr(properties, name)
    assert getattr(DeviceProperties, name).__doc__


UNKNOWN = """
from cuda.core import CUDAError, Device, emulation
properties = Device(0).properties
for name in ("mem_sync_domain_count", "host_numa_id", "warp_size", "integrated"):
    with emulation.inject("cuDeviceGetAttribute", error="CUDA_ERROR_INVALID_VALUE"):
        print(getattr(properties, name), getattr(properties, name))  # the second is cached
with emulation.inject("cuDeviceGetAttribute", error="CUDA_ERROR_INVALID_DEVICE"):
    try: properties.multiprocessor_count
    except CUDAError as error: print(error.name, error.where)
print(properties.multiprocessor_count > 0)
"""


def test_an_attribute_that_the_driver_does_not_know_has_a_default(run_python):
    lines = run_python(UNKNOWN, HALFWARP_BACKEND="emulator").splitlines()
    assert lines == [
        "1 1",
        "-1 -1",
        "0 0",
        "False False",
        "CUDA_ERROR_INVALID_DEVICE cuDeviceGetAttribute",
        "True",
    ]


def test_they_cannot_be_assigned(properties):
    with pytest.raises(AttributeError):
        properties.warp_size = 64


def test_an_unknown_name_is_refused(properties):
    with pytest.raises(AttributeError):
        _ = properties.color
    with pytest.raises(KeyError):
        properties["as_dict"]


def test_the_names_are_iterated(properties):
    assert sorted(properties) == NAMES
    assert "warp_size" in properties
    assert "warp_sise" not in properties and 0 not in properties


def test_they_are_copied_and_pickled_by_device(properties):
    for made in (copy.copy, copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))):
        assert made(properties) is properties
