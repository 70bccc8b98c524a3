# SPDX-License-Identifier: Apache-2.0
"""Arrays of NumPy, PyTorch, CuPy and Numba, where installed: the description by a view."""

import numpy as np
import pytest
from cuda.core import emulation
from cuda.core.utils import StridedMemoryView

CUTS = {
    "contiguous": np.s_[:],
    "sliced": np.s_[1:3, ::2],
    "of no element": np.s_[1:1],
    "of one element": np.s_[1, 2:3],
    "turned": np.s_[::-1],
}


def of_numpy(values):
    return values, values.__array_interface__["data"][0], -1


def of_torch(values):
    torch = pytest.importorskip("torch")
    array = torch.from_numpy(values.copy())
    return array, array.data_ptr(), -1


def of_torch_on_a_device(values):
    torch = pytest.importorskip("torch")
    if emulation.is_active() or not torch.cuda.is_available():
        pytest.skip("needs a GPU")
    array = torch.from_numpy(values.copy()).cuda()
    return array, array.data_ptr(), torch.cuda.current_stream().cuda_stream


def of_cupy(values):
    if emulation.is_active():
        pytest.skip("needs a GPU")
    cupy = pytest.importorskip("cupy")
    array = cupy.asarray(values)
    return array, array.data.ptr, cupy.cuda.get_current_stream().ptr


def of_numba(values):
    if emulation.is_active():
        pytest.skip("needs a GPU")
    cuda = pytest.importorskip("numba.cuda")
    array = cuda.to_device(values)
    return array, array.device_ctypes_pointer.value, 0


@pytest.mark.parametrize("make", [of_numpy, of_torch, of_torch_on_a_device, of_cupy, of_numba])
@pytest.mark.parametrize("cut", CUTS)
def test_a_view_has_the_layout_of_the_array(device, make, cut):
    values = np.arange(32, dtype=np.float32).reshape(4, 8)
    array, base, stream = make(values)
    if cut == "turned" and make is not of_numpy and make is not of_cupy:
        pytest.skip("the library has no negative strides")
    expected = values[CUTS[cut]]
    view = StridedMemoryView.from_any_interface(array[CUTS[cut]], stream_ptr=stream)
    assert view.shape == expected.shape
    assert view.dtype == np.float32
    assert view.is_device_accessible is (stream != -1)
    if expected.size:
        offset = expected.__array_interface__["data"][0] - values.__array_interface__["data"][0]
        assert view.ptr == base + offset
        strides = tuple(step // 4 for step in expected.strides)
        assert (view.strides or strides) == strides
