# SPDX-License-Identifier: Apache-2.0
"""Protocols, aliases and string enums for annotations and arguments.

Functions that accept an enum also accept the plain string.
"""

from collections.abc import Sequence
from enum import StrEnum
from importlib import import_module
from typing import Literal, Protocol, runtime_checkable

__all__ = [
    "AddressModeType",
    "ArrayFormatType",
    "ClusterSchedulingPolicyType",
    "CompilerBackendType",
    "DevicePointerType",  # noqa: F822 - created on first use
    "DeviceResourcesType",  # noqa: F822 - created on first use
    "FilterModeType",
    "GraphConditionalType",
    "GraphMemoryType",
    "IsStreamType",
    "ManagedMemoryLocationType",
    "ObjectCodeFormatType",
    "PCHStatusType",
    "ProcessStateType",
    "ReadModeType",
    "SourceCodeType",
    "VirtualMemoryAccessType",
    "VirtualMemoryAllocationType",
    "VirtualMemoryGranularityType",
    "VirtualMemoryHandleType",
    "VirtualMemoryLocationType",
    "WorkqueueSharingScopeType",
]


@runtime_checkable
class IsStreamType(Protocol):
    """An object that exports a stream of its own library."""

    def __cuda_stream__(self) -> tuple[int, int]:
        """Return ``(0, address of the CUstream)``."""


class SourceCodeType(StrEnum):
    """The source language of a `Program`."""

    CXX = "c++"
    PTX = "ptx"
    NVVM = "nvvm"


class ObjectCodeFormatType(StrEnum):
    """The format of an `ObjectCode`."""

    PTX = "ptx"
    CUBIN = "cubin"
    LTOIR = "ltoir"
    FATBIN = "fatbin"
    OBJECT = "object"
    LIBRARY = "library"


class CompilerBackendType(StrEnum):
    """The library that compiles or links."""

    NVRTC = "NVRTC"
    NVVM = "NVVM"
    NVJITLINK = "nvJitLink"
    DRIVER = "driver"


class ClusterSchedulingPolicyType(StrEnum):
    """How the blocks of a cluster are assigned to multiprocessors."""

    DEFAULT = "default"
    SPREAD = "spread"
    LOAD_BALANCING = "load_balancing"


class PCHStatusType(StrEnum):
    """The status of a precompiled header."""

    CREATED = "created"
    NOT_ATTEMPTED = "not_attempted"
    FAILED = "failed"


class GraphConditionalType(StrEnum):
    """The kind of a conditional graph node."""

    IF = "if"
    WHILE = "while"
    SWITCH = "switch"


class GraphMemoryType(StrEnum):
    """The kind of memory that a graph allocates."""

    DEVICE = "device"
    HOST = "host"
    MANAGED = "managed"


class ManagedMemoryLocationType(StrEnum):
    """The preferred location of managed memory."""

    DEVICE = "device"
    HOST = "host"
    HOST_NUMA = "host_numa"


class VirtualMemoryHandleType(StrEnum):
    """The handle type with which virtual memory is shared."""

    POSIX_FD = "posix_fd"
    WIN32_KMT = "win32_kmt"
    FABRIC = "fabric"


class VirtualMemoryLocationType(StrEnum):
    """The location of virtual memory."""

    DEVICE = "device"
    HOST = "host"
    HOST_NUMA = "host_numa"
    HOST_NUMA_CURRENT = "host_numa_current"


class VirtualMemoryGranularityType(StrEnum):
    """The granularity to which sizes of virtual memory are rounded."""

    MINIMUM = "minimum"
    RECOMMENDED = "recommended"


class VirtualMemoryAccessType(StrEnum):
    """The access rights to mapped virtual memory."""

    READ_WRITE = "rw"
    READ = "r"


class VirtualMemoryAllocationType(StrEnum):
    """The kind of a virtual memory allocation."""

    PINNED = "pinned"
    MANAGED = "managed"


class ArrayFormatType(StrEnum):
    """The type of an array's or texture's elements."""

    UINT8 = "uint8"
    UINT16 = "uint16"
    UINT32 = "uint32"
    INT8 = "int8"
    INT16 = "int16"
    INT32 = "int32"
    FLOAT16 = "float16"
    FLOAT32 = "float32"


class AddressModeType(StrEnum):
    """The addressing mode of a texture for coordinates outside its bounds."""

    WRAP = "wrap"
    CLAMP = "clamp"
    MIRROR = "mirror"
    BORDER = "border"


class FilterModeType(StrEnum):
    """The filter mode of a texture between elements."""

    POINT = "point"
    LINEAR = "linear"


class ReadModeType(StrEnum):
    """The type of the values that a texture read returns."""

    ELEMENT_TYPE = "element_type"
    NORMALIZED_FLOAT = "normalized_float"


class WorkqueueSharingScopeType(StrEnum):
    """The scope of contexts that share a workqueue."""

    DEVICE_CTX = "device_ctx"
    GREEN_CTX_BALANCED = "green_ctx_balanced"


ProcessStateType = Literal["running", "locked", "checkpointed", "failed"]

_OLD_NAMES = {
    "CompilerBackend": "CompilerBackendType",
    "DevicePointerT": "DevicePointerType",
    "IsStreamT": "IsStreamType",
    "ObjectCodeFormat": "ObjectCodeFormatType",
    "PCHStatus": "PCHStatusType",
    "ProcessStateT": "ProcessStateType",
    "SourceType": "SourceCodeType",
}


def __getattr__(name):
    if name == "DevicePointerType":  # needs the low layer; most users of this module do not
        value = import_module("cuda.bindings.driver").CUdeviceptr | int | None
    elif name == "DeviceResourcesType":
        core = import_module("cuda.core")
        value = Sequence[core.SMResource | core.WorkqueueResource]
    elif name in _OLD_NAMES:
        module = import_module(__name__)
        value = getattr(module, _OLD_NAMES[name])
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *__all__})
