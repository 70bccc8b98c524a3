# SPDX-License-Identifier: Apache-2.0
"""Connections between two devices."""

from cuda.core.system._device import Device
from cuda.core.system._numbers import P2P_INDEX, P2P_STATUS, TOPOLOGY_LEVEL
from cuda.core.system._nvml_context import nvml

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cuda.core.system.typing import GpuP2PCapsIndex, GpuP2PStatus, GpuTopologyLevel


def _handle_of(device, name):
    if not isinstance(device, Device):
        raise TypeError(f"{name} must be a cuda.core.system.Device, got {type(device).__name__}")
    return device._handle


def get_topology_common_ancestor(device1: Device, device2: Device) -> "GpuTopologyLevel":
    """Return the topology level of the path between two devices. Host only; Linux.

    Parameters
    ----------
    device1, device2
        The devices.

    See Also
    --------
    nvmlDeviceGetTopologyCommonAncestor : the NVML function.
    """
    handles = _handle_of(device1, "device1"), _handle_of(device2, "device2")
    return TOPOLOGY_LEVEL.member(nvml.device_get_topology_common_ancestor(*handles))


def get_p2p_status(
    device1: Device, device2: Device, index: "GpuP2PCapsIndex | str"
) -> "GpuP2PStatus":
    """Return whether two devices support a peer-to-peer capability, or why not. Host only.

    Parameters
    ----------
    device1, device2
        The devices.
    index
        The capability.

    Raises
    ------
    ValueError
        If `index` is not a known capability.

    See Also
    --------
    nvmlDeviceGetP2PStatus : the NVML function.
    """
    handles = _handle_of(device1, "device1"), _handle_of(device2, "device2")
    return P2P_STATUS.member(nvml.device_get_p2p_status(*handles, P2P_INDEX.number(index)))
