# SPDX-License-Identifier: Apache-2.0
"""The arrays of numbers that functions return: elements, views, buffers, comparisons, pickles."""

import ctypes
import pickle
import subprocess
import sys

import numpy as np
import pytest

from ...libraries import open_or_skip


@pytest.fixture
def targets():
    """Return the targets of NVRTC: an array of at least ten numbers of 32 bits."""
    open_or_skip("nvrtc")
    from cuda.bindings._v2 import nvrtc

    return nvrtc.get_supported_archs()


def test_its_attributes_describe_its_memory(targets):
    count = len(targets)
    assert count >= 10
    assert (targets.shape, targets.strides, targets.ndim) == ((count,), (4,), 1)
    assert (targets.size, targets.itemsize, targets.nbytes) == (count, 4, 4 * count)
    assert (targets.format, targets.typecode, targets.dtype) == ("i", "i", np.dtype("i4"))
    numbers = (ctypes.c_int * count).from_address(targets.ptr)
    assert list(numbers) == targets.tolist() == list(targets)
    assert targets.tobytes() == bytes(numbers) == bytes(targets.memview)
    assert repr(targets) == f"array('i', {targets.tolist()})"


def test_an_element_is_read_and_written(targets):
    last = len(targets) - 1
    targets[0], targets[-1] = 5, 6
    assert (targets[0], targets[-last - 1], targets[last], targets[-1]) == (5, 5, 6, 6)
    for outside in (last + 1, -last - 2):
        with pytest.raises(IndexError):
            targets[outside]
        with pytest.raises(IndexError):
            targets[outside] = 1
    with pytest.raises(TypeError, match="cannot be deleted"):
        del targets[0]
    with pytest.raises(TypeError):
        targets[0] = "x"
    with pytest.raises(OverflowError):
        targets[0] = 2**31


def test_a_slice_is_assigned_one_number_or_as_many_as_it_has(targets):
    before = targets.tolist()
    targets[1:3] = 7
    targets[3:9:2] = [1, 2, 3]
    assert targets.tolist() == [before[0], 7, 7, 1, before[4], 2, before[6], 3, *before[8:]]
    with pytest.raises(ValueError, match="expected 2 elements, got 3"):
        targets[0:2] = [1, 2, 3]


def test_it_is_pickled_as_an_array_of_the_standard_library(targets):
    copy = pickle.loads(pickle.dumps(targets))
    assert type(copy).__module__ == "array"
    assert (copy.typecode, copy.tolist()) == ("i", targets.tolist())


def test_it_is_compared_like_an_array_of_numpy(targets):
    assert (targets == targets.tolist()).all()
    assert (targets != np.zeros(len(targets))).all()
    assert (targets > 80).tolist() == [each > 80 for each in targets]
    assert targets[targets > 100].tolist() == [each for each in targets if each > 100]


WITHOUT_NUMPY = """
import sys
from cuda.bindings._v2 import nvrtc
targets = nvrtc.get_supported_archs()
again, numbers = nvrtc.get_supported_archs(), targets.tolist()
assert targets == again and targets == numbers and not targets != tuple(numbers)
assert targets != numbers[1:] and targets != "x" * len(numbers) and targets != 5
def refusal(function):
    try:
        return function()
    except (BufferError, TypeError) as error:
        return str(error)
assert "not supported between" in refusal(lambda: targets < numbers)  # an order needs NumPy
part = targets[2::3]
assert type(part) is type(targets) and part.tolist() == numbers[2::3]
assert part.strides == (12,) and part.tobytes() == b"".join(
    each.to_bytes(4, "little") for each in numbers[2::3])
part[0] = 4
assert targets[2] == 4
assert part.ptr == targets.ptr + 8
del targets
assert part[0] == 4
assert memoryview(part).tolist() == part.tolist()
assert refusal(lambda: b"".join([part])) != part.tobytes()
assert "numpy" not in sys.modules
"""


def test_it_works_without_numpy():
    open_or_skip("nvrtc")
    subprocess.run([sys.executable, "-c", WITHOUT_NUMPY], check=True)
