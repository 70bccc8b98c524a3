# SPDX-License-Identifier: Apache-2.0
"""A context, streams, and calls whose status must be good."""

import pytest
from cuda.bindings import driver
from cuda.core import Device


def made(status, *results):
    """The results of a call that must succeed."""
    assert status == 0, status
    return results[0] if len(results) == 1 else results


@pytest.fixture(autouse=True)
def context():
    Device(0).set_current()


@pytest.fixture
def streams():
    """Three streams that the default stream does not wait for."""
    found = [
        made(*driver.cuStreamCreate(driver.CUstream_flags.CU_STREAM_NON_BLOCKING)) for _ in range(3)
    ]
    yield found
    for each in found:
        made(*driver.cuStreamDestroy(each))


@pytest.fixture
def events():
    found = [made(*driver.cuEventCreate(0)) for _ in range(3)]
    yield found
    for each in found:
        made(*driver.cuEventDestroy(each))


@pytest.fixture
def memory():
    """1 KiB of device memory, all zero."""
    address = made(*driver.cuMemAlloc(1024))
    made(*driver.cuMemsetD8(address, 0, 1024))
    made(*driver.cuCtxSynchronize())  # the streams do not wait for the default stream
    yield int(address)
    made(*driver.cuMemFree(address))
