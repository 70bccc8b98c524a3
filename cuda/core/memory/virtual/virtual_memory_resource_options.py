# SPDX-License-Identifier: Apache-2.0
"""VirtualMemoryResourceOptions: address range, memory and access of virtual memory."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from importlib import import_module

from cuda.core.arguments.shown import shown
from cuda.core.typing import (
    VirtualMemoryAccessType,
    VirtualMemoryAllocationType,
    VirtualMemoryGranularityType,
    VirtualMemoryHandleType,
    VirtualMemoryLocationType,
)


@dataclass
class VirtualMemoryResourceOptions:
    """Options of `VirtualMemoryResource`.

    Host only. The enumerations also accept plain strings.

    Parameters
    ----------
    allocation_type : str or VirtualMemoryAllocationType
        ``"pinned"``, or ``"managed"`` if the driver supports it.
    location_type : str or VirtualMemoryLocationType
        ``"device"``, ``"host"``, ``"host_numa"`` or ``"host_numa_current"``.
    handle_type : str or VirtualMemoryHandleType, optional
        Handle type for exporting: ``"posix_fd"``, ``"fabric"``, ``"win32_kmt"`` or None. With
        location ``"host"`` the default means None, since drivers cannot export such memory.
    granularity : str or VirtualMemoryGranularityType
        Granularity to which sizes are rounded up: ``"minimum"`` or ``"recommended"``.
    gpu_direct_rdma : bool
        Whether other PCIe devices can access the memory.
    addr_hint : int, optional
        The preferred address; 0 or None for any.
    addr_align : int, optional
        Alignment of the address in bytes; None for the granularity.
    peers : iterable of int
        Ordinals of other devices that access the memory.
    self_access : str or VirtualMemoryAccessType, optional
        Access of the owner: ``"rw"``, ``"r"``, or None for none.
    peer_access : str or VirtualMemoryAccessType, optional
        Access of the peers.

    See Also
    --------
    cuMemCreate, cuMemAddressReserve, cuMemSetAccess : the driver functions.
    """

    allocation_type: VirtualMemoryAllocationType | str = VirtualMemoryAllocationType.PINNED
    location_type: VirtualMemoryLocationType | str = VirtualMemoryLocationType.DEVICE
    handle_type: VirtualMemoryHandleType | str | None = VirtualMemoryHandleType.POSIX_FD
    granularity: VirtualMemoryGranularityType | str = VirtualMemoryGranularityType.RECOMMENDED
    gpu_direct_rdma: bool = False
    addr_hint: int | None = 0
    addr_align: int | None = None
    peers: Iterable[int] = ()
    self_access: VirtualMemoryAccessType | str | None = VirtualMemoryAccessType.READ_WRITE
    peer_access: VirtualMemoryAccessType | str | None = VirtualMemoryAccessType.READ_WRITE


VirtualMemoryResourceOptions.__module__ = "cuda.core"


class DriverValues:
    """Class attribute: a dict from the values of an option to enumerators of the driver."""

    def __init__(self, enumeration, names):
        self.enumeration, self.names, self.values = enumeration, names, None

    def __get__(self, instance, owner=None):
        if self.values is None:
            members = getattr(import_module("cuda.bindings.driver"), self.enumeration)
            self.values = {value: members[name] for value, name in self.names.items()}
        return self.values


def driver_value(attribute, problem, value):
    """Return the enumerator of an option's value."""
    try:
        return getattr(VirtualMemoryResourceOptions, attribute)[value]
    except KeyError:
        raise ValueError(f"{problem}: {shown(value)}") from None


def handle_type_to_driver(value):
    """Return the enumerator of a handle type."""
    if value == "win32":
        raise NotImplementedError("handle_type='win32' is not supported: use 'win32_kmt'")
    return driver_value("_handle_types", "Unsupported handle_type", value)


def add_driver_values(cls):
    """Add the private tables and conversions of NVIDIA's class, which forks use."""
    tables = {
        "_access_flags": ("CUmemAccess_flags", "CU_MEM_ACCESS_FLAGS_PROT_", {
            VirtualMemoryAccessType.READ_WRITE: "READWRITE",
            VirtualMemoryAccessType.READ: "READ",
            None: "NONE",
        }),
        "_allocation_type": ("CUmemAllocationType", "CU_MEM_ALLOCATION_TYPE_", {
            each: each.name for each in VirtualMemoryAllocationType
        }),
        "_granularity": ("CUmemAllocationGranularity_flags", "CU_MEM_ALLOC_GRANULARITY_", {
            each: each.name for each in VirtualMemoryGranularityType
        }),
        "_handle_types": ("CUmemAllocationHandleType", "CU_MEM_HANDLE_TYPE_", {
            None: "NONE",
            VirtualMemoryHandleType.POSIX_FD: "POSIX_FILE_DESCRIPTOR",
            VirtualMemoryHandleType.WIN32_KMT: "WIN32_KMT",
            VirtualMemoryHandleType.FABRIC: "FABRIC",
        }),
        "_location_type": ("CUmemLocationType", "CU_MEM_LOCATION_TYPE_", {
            each: each.name for each in VirtualMemoryLocationType
        }),
    }  # fmt: skip
    for attribute, (enumeration, prefix, names) in tables.items():
        full_names = {value: prefix + name for value, name in names.items()}
        setattr(cls, attribute, DriverValues(enumeration, full_names))
    for name, attribute, problem in (
        ("_access_to_flags", "_access_flags", "Unknown access spec"),
        ("_allocation_type_to_driver", "_allocation_type", "Unsupported allocation_type"),
        ("_granularity_to_driver", "_granularity", "Unsupported granularity"),
        ("_location_type_to_driver", "_location_type", "Unsupported location_type"),
    ):
        setattr(cls, name, staticmethod(partial(driver_value, attribute, problem)))
    cls._handle_type_to_driver = staticmethod(handle_type_to_driver)


add_driver_values(VirtualMemoryResourceOptions)
