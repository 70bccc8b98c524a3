# SPDX-License-Identifier: Apache-2.0
"""Named tuples and values that the classes of this folder return."""

import warnings
from collections import namedtuple

ParamInfo = namedtuple("ParamInfo", ("offset", "size"))
ParamInfo.__doc__ = "Where a kernel parameter lies in the parameter block, and its size, in bytes."

MaxPotentialBlockSizeOccupancyResult = namedtuple(
    "MaxPotentialBlockSizeOccupancyResult", ("min_grid_size", "max_block_size")
)
MaxPotentialBlockSizeOccupancyResult.__doc__ = (
    "The block size of most occupancy, and the fewest blocks that then fill the device."
)


class AttributeValue(int):
    """An int attribute of a kernel that may be called, as older code does: ``num_regs(device)``."""

    def __new__(cls, value, attributes, name):
        made = super().__new__(cls, value)
        made._attributes = attributes
        made._name = name
        return made

    def __call__(self, device_id=None):
        """The plain int for a device; deprecated.

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
