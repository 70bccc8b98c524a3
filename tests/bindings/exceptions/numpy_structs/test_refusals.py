# SPDX-License-Identifier: Apache-2.0
"""Wrong uses of structs of the raising libraries, with their messages."""

import pytest
from cuda.bindings import nvml


def assign(target, key, value):
    target[key] = value


def delete(target, key):
    del target[key]


@pytest.mark.parametrize(
    ("use", "kind", "message"),
    [
        (lambda: nvml.Memory()[0], TypeError, "'Memory' object is not subscriptable"),
        (
            lambda: assign(nvml.Memory(), 0, nvml.Memory()),
            TypeError,
            "elements of Memory cannot be assigned: it is one struct",
        ),
        (
            lambda: delete(nvml.ProcessInfo(2), 0),
            TypeError,
            "elements of ProcessInfo cannot be deleted",
        ),
        (
            lambda: nvml.ProcessInfo(2)["nothing"],
            ValueError,
            "ProcessInfo has no field of name nothing",
        ),
        (
            lambda: memoryview(nvml.ProcessInfo(4)[::2]),
            BufferError,
            "these structs are not contiguous; copy them",
        ),
        (
            lambda: nvml.Memory.from_buffer(memoryview(bytes(48))[::2]),
            ValueError,
            "Memory.from_buffer() argument 'buffer': the buffer must be contiguous",
        ),
        (
            lambda: nvml.Memory.from_buffer(bytes(25)),
            ValueError,
            "Memory.from_buffer() argument 'buffer': buffer length must be 24 bytes, got 25",
        ),
        (
            lambda: nvml.ProcessInfo.from_buffer(bytes(25)),
            ValueError,
            "ProcessInfo.from_buffer() argument 'buffer': buffer size must be a multiple of 24 "
            "bytes, got 25",
        ),
    ],
)
def test_a_wrong_use_is_refused(use, kind, message):
    with pytest.raises(kind) as caught:
        use()
    assert str(caught.value) == message


def test_structs_that_are_contiguous_have_a_buffer():
    every_second = nvml.ProcessInfo(4)[::2]
    assert memoryview(every_second[1:]).nbytes == 24
    assert memoryview(nvml.ProcessInfo(4)[1:3]).nbytes == 48
