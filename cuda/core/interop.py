# SPDX-License-Identifier: Apache-2.0
"""Memory of a `MemoryResource` for CuPy, PyTorch and Numba.

A function imports only the library that it serves. Memory that a library allocates here retains
its resource.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from cuda.core._core import Buffer, Device, MemoryResource, Stream, _allocate_from
from cuda.core._core import __file__ as _core_path
from cuda.core.arguments.shown import shown
from cuda.core.memory.adaptors.adaptor import is_memory_resource

__all__ = ["cupy_allocator", "numba_memory_manager", "torch_allocator"]


class _Memory:
    """Buffers that another library identifies by their address."""

    def __init__(self) -> None:
        self._buffers: dict[int, tuple[Buffer, object]] = {}

    def allocate(
        self,
        mr: MemoryResource,
        size: int,
        stream: int,
        owner: object = None,
        device: int | None = None,
    ) -> int:
        """Allocate memory in stream order and return its address; retain `owner` with it."""
        buffer = _allocate_from(mr, size, Stream.from_handle(stream), device)
        address = int(buffer.handle)
        if address in self._buffers:
            raise RuntimeError(f"{shown(mr)} returned memory at {address:#x} that is in use")
        if address:  # an empty buffer has no address and is never released
            self._buffers[address] = buffer, owner
        return address

    def release(self, address: int) -> None:
        """Free memory in the order of its stream; ignore an unknown address."""
        buffer, _ = self._buffers.pop(address, (None, None))
        if buffer is not None:
            buffer.close()


def _check(mr, function):
    if not is_memory_resource(mr):
        raise TypeError(f"{function}() requires a MemoryResource, got {type(mr).__name__}")
    if not mr.is_device_accessible:
        raise ValueError(f"{function}() requires device-accessible memory; {shown(mr)} has none")


def _make_current(device):
    """Make a device current; a new thread has no current context."""
    status, current = import_module("cuda.bindings.driver").cuCtxGetDevice()
    if status or int(current) != device:
        Device(device).set_current()


def cupy_allocator(
    mr: MemoryResource,
) -> tuple[Callable[[int, int], int], Callable[[int, int], None]]:
    """Return functions through which CuPy allocates memory from a resource.

    Host only. Pass both to ``cupy.cuda.PythonFunctionAllocator``, and its ``malloc`` to
    ``cupy.cuda.set_allocator``. Memory is allocated and freed in the order of the stream that is
    CuPy's current stream at the allocation.

    Parameters
    ----------
    mr : MemoryResource
        The resource that allocates; a resource of a device serves this device only.

    Returns
    -------
    tuple of two callables
        ``malloc(size, device_id) -> int`` and ``free(ptr, device_id)``.

    Raises
    ------
    ValueError
        If the memory is not device-accessible.
    """
    _check(mr, "cupy_allocator")
    memory = _Memory()

    def malloc(size, device_id):
        if mr.device_id not in (device_id, -1):
            raise RuntimeError(
                f"CuPy requests memory of device {device_id}, but {shown(mr)} allocates on device "
                f"{mr.device_id}: set an allocator on each device"
            )
        _make_current(device_id)
        stream = import_module("cupy").cuda.get_current_stream()
        return memory.allocate(mr, size, stream.ptr, owner=stream, device=device_id)

    def free(ptr, device_id):
        memory.release(ptr)

    return malloc, free


_torch_resources: dict[int, MemoryResource] = {}  # keyed by device ordinal; -1 is the default
_torch_memory = _Memory()


def torch_allocator(mr: MemoryResource) -> tuple[str, str, str]:
    """Return the library and functions through which PyTorch allocates memory from a resource.

    Host only. Pass all three to ``torch.cuda.memory.CUDAPluggableAllocator``, and its result to
    ``torch.cuda.memory.change_current_allocator`` before PyTorch allocates. Each device has one
    resource: a later call replaces it. A resource without a device, for example of managed memory,
    serves the devices without their own resource.

    Parameters
    ----------
    mr : MemoryResource
        The resource that allocates.

    Returns
    -------
    tuple of three str
        The path of a library, and the names of its allocation and free functions.

    Raises
    ------
    ValueError
        If the memory is not device-accessible.
    """
    _check(mr, "torch_allocator")
    _torch_resources[mr.device_id] = mr
    return _core_path, "halfwarp_torch_allocate", "halfwarp_torch_free"


def _allocate_for_torch(size, device, stream):
    """Allocate memory for the library's allocation function."""
    mr = _torch_resources.get(device) or _torch_resources.get(-1)
    if mr is None:
        raise RuntimeError(
            f"PyTorch requests memory of device {device}, but no resource was passed to "
            "torch_allocator() for it"
        )
    _make_current(device)
    return _torch_memory.allocate(mr, size, stream, device=device)


def _free_for_torch(address):
    _torch_memory.release(address)


def numba_memory_manager(mr: MemoryResource) -> type:
    """Return a class through which Numba allocates device memory from a resource.

    Host only. Pass it to ``numba.cuda.set_memory_manager`` before Numba creates a context. Numba
    does not name a stream when it allocates. Memory is allocated and freed in the order of the
    legacy default stream, with which the streams that Numba creates synchronize.

    Parameters
    ----------
    mr : MemoryResource
        The resource that allocates.

    Returns
    -------
    type
        A subclass of ``numba.cuda.HostOnlyCUDAMemoryManager``.

    Raises
    ------
    ValueError
        If the memory is not device-accessible.
    """
    _check(mr, "numba_memory_manager")
    cuda = import_module("numba.cuda")
    memory = _Memory()

    class ResourceMemoryManager(cuda.HostOnlyCUDAMemoryManager):
        """Device memory of a `MemoryResource`; Numba allocates page-locked memory itself."""

        resource = mr

        @property
        def interface_version(self):
            return 1

        def initialize(self):
            """Do nothing; the resource is ready."""

        def memalloc(self, size):
            address = memory.allocate(mr, size, 0)
            return cuda.MemoryPointer(
                self.context, address, size, finalizer=lambda: memory.release(address)
            )

        def get_memory_info(self):
            info = Device(None if mr.device_id < 0 else mr.device_id).memory_info
            return cuda.MemoryInfo(free=info.free, total=info.total)

        def get_ipc_handle(self, memory):
            raise NotImplementedError(
                f"Numba cannot open memory of {shown(mr)} in another process: share a buffer of an "
                "IPC-enabled resource instead"
            )

    return ResourceMemoryManager
