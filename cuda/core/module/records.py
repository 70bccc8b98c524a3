# SPDX-License-Identifier: Apache-2.0
"""Named tuples and values that the classes of this folder return."""

import warnings
from collections import namedtuple

ParamInfo = namedtuple("ParamInfo", ("offset", "size"))
ParamInfo.__doc__ = "Offset of a kernel parameter in the parameter block, and its size, in bytes."

MaxPotentialBlockSizeOccupancyResult = namedtuple(
    "MaxPotentialBlockSizeOccupancyResult", ("min_grid_size", "max_block_size")
)
MaxPotentialBlockSizeOccupancyResult.__doc__ = (
    "Block size of maximum occupancy, and the minimum number of blocks that fill the device."
)


class AttributeValue(int):
    """An int attribute of a kernel that older code may call: ``num_regs(device)``."""

    def __new__(cls, value, attributes, name):
        result = super().__new__(cls, value)
        result._attributes = attributes
        result._name = name
        return result

    def __call__(self, device_id=None):
        """Return the plain int for a device; deprecated.

        Parameters
        ----------
        device_id : Device or int, optional
            The current device if None.
        """
        warnings.warn(
            f"KernelAttributes.{self._name}() is deprecated: use attributes.{self._name} or "
            f"attributes[device].{self._name}",
            DeprecationWarning,
            stacklevel=2,
        )
        view = self._attributes if device_id is None else self._attributes[device_id]
        return int(getattr(view, self._name))

    def __reduce__(self):
        return int, (int(self),)
