# SPDX-License-Identifier: Apache-2.0
"""Examples of the page on enumerations and types."""

from cuda.core import Device

device = Device()
device.set_current()

# example: typing.IsStreamType
from cuda.core.typing import IsStreamType


class Borrowed:
    """A stream of another library."""

    def __init__(self, address: int):
        self.address = address

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.address


owner = device.create_stream()
foreign = Borrowed(int(owner.handle))
assert isinstance(foreign, IsStreamType)
stream = device.create_stream(foreign)
device.allocate(64, stream=stream).close()
