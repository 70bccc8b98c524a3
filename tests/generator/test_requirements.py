# SPDX-License-Identifier: Apache-2.0
"""The states that emulated functions need, in the headers of the emulator and its runtime."""

import pytest

from generator import libraries
from generator.emit import emulation

DRIVER = {
    "cuGetErrorName": "nothing, false",
    "cuInit": "connection, false",
    "cuCtxGetCurrent": "driver, false",
    "cuDeviceGetAttribute": "driver, false",
    "cuDevicePrimaryCtxRelease": "driver, true",
    "cuMemFree": "context, true",
    "cuMemAlloc": "context, false",
}
RUNTIME = {
    "cudaGetLastError": "nothing, false",
    "cudaDriverGetVersion": "connection, false",
    "cudaGetDeviceCount": "driver, false",
    "cudaSetValidDevices": "driver, false",
    "cudaMalloc": "context, false",
}


@pytest.fixture(scope="module")
def files():
    return emulation.emit(libraries.load_all())


@pytest.mark.parametrize(("folder", "rows"), [("emulator", DRIVER), ("emulated_runtime", RUNTIME)])
def test_each_function_has_the_row_of_its_decision(files, folder, rows):
    folder = f"build/generated/{folder}"
    text = files[f"{folder}/requirements.hpp"]
    assert [
        name for name, row in rows.items() if f"{{needs::{row}}},  // {name}\n" not in text
    ] == []
    assert f"function_count = {text.count('{needs::')};" in files[f"{folder}/api.hpp"]
