# SPDX-License-Identifier: Apache-2.0
"""Memory of a `MemoryResource` for CuPy, PyTorch and Numba.

Each library is imported by its own calls only. A resource stays alive as long as memory that it
gave out through here.
"""

from importlib import import_module

from cuda.core._core import Buffer, Device, MemoryResource, Stream
from cuda.core._core import __file__ as _core_path
from cuda.core.memory.adaptors.adaptor import is_memory_resource

__all__ = ["cupy_allocator", "numba_memory_manager", "torch_allocator"]


class _Memory:
    """Buffers that a library knows by their address."""

    def __init__(self) -> None:
        self._buffers: dict[int, tuple[Buffer, object]] = {}

    def take(self, mr: MemoryResource, size: int, stream: int, kept: object = None) -> int:
        """The address of memory that may be used on a stream; `kept` lives as long as it."""
        buffer = mr.allocate(size, stream=Stream.from_handle(stream))
        address = int(buffer.handle)
        if address:  # nothing has no address, and does not come back
            self._buffers[address] = buffer, kept
        return address

    def release(self, address: int) -> None:
        """In the order of the stream that it was taken for; harmless for what is not known."""
        buffer, _ = self._buffers.pop(address, (None, None))
        if buffer is not None:
            buffer.close()


def _check(mr, function):
    if not is_memory_resource(mr):
        raise TypeError(f"{function}() takes a MemoryResource, got {type(mr).__name__}")
    if not mr.is_device_accessible:
        raise ValueError(f"{function}() needs memory that kernels may use, which {mr!r} has not")


def _make_current(device):
    """A thread that PyTorch made, or that did nothing with CUDA yet, has no context."""
    status, current = import_module("cuda.bindings.driver").cuCtxGetDevice()
    if status or int(current) != device:
        Device(device).set_current()


def cupy_allocator(mr):
    """Functions by which CuPy takes its memory from a resource.

    Host only. Pass both to ``cupy.cuda.PythonFunctionAllocator``, and its ``malloc`` to
    ``cupy.cuda.set_allocator``. Memory is allocated, and later freed, in the order of the stream
    that is CuPy's current one at the allocation.

    Parameters
    ----------
    mr : MemoryResource
        Where the memory comes from; that of a device serves this device only.

    Returns
    -------
    tuple of two callables
        ``malloc(size, device_id) -> int`` and ``free(ptr, device_id)``.

    Raises
    ------
    ValueError
        If kernels cannot use the memory.
    """
    _check(mr, "cupy_allocator")
    memory = _Memory()

    def malloc(size, device_id):
        if mr.device_id not in (device_id, -1):
            raise RuntimeError(
                f"CuPy asks for memory of device {device_id}, and {mr!r} has that of device "
                f"{mr.device_id}: set an allocator on each device"
            )
        _make_current(device_id)
        stream = import_module("cupy").cuda.get_current_stream()
        return memory.take(mr, size, stream.ptr, kept=stream)

    def free(ptr, device_id):
        memory.release(ptr)

    return malloc, free


_of_torch: dict[int, MemoryResource] = {}  # by the ordinal of the device; -1 for any other
_torch_memory = _Memory()


def torch_allocator(mr):
    """What PyTorch needs to take its memory from a resource.

    Host only. Pass all three to ``torch.cuda.memory.CUDAPluggableAllocator``, and that to
    ``torch.cuda.memory.change_current_allocator`` before PyTorch allocates. There is one resource
    for each device: the last that was given here. That of no device, of managed memory for
    instance, serves the devices that have none.

    Parameters
    ----------
    mr : MemoryResource
        Where the memory comes from.

    Returns
    -------
    tuple of three str
        The path of a library, and the names of its functions that allocate and free.

    Raises
    ------
    ValueError
        If kernels cannot use the memory.
    """
    _check(mr, "torch_allocator")
    _of_torch[mr.device_id] = mr
    return _core_path, "halfwarp_torch_allocate", "halfwarp_torch_free"


def _allocate_for_torch(size, device, stream):
    """Called by the library's function."""
    mr = _of_torch.get(device) or _of_torch.get(-1)
    if mr is None:
        raise RuntimeError(
            f"PyTorch asks for memory of device {device}, for which torch_allocator() was given "
            "no resource"
        )
    _make_current(device)
    return _torch_memory.take(mr, size, stream)


def _free_for_torch(address):
    _torch_memory.release(address)


def numba_memory_manager(mr):
    """A class by which Numba takes its device memory from a resource.

    Host only. Pass it to ``numba.cuda.set_memory_manager`` before Numba makes a context. Numba
    does not say for which stream it allocates: memory comes and goes in the order of the legacy
    default stream, which streams that Numba makes are ordered with.

    Parameters
    ----------
    mr : MemoryResource
        Where the memory comes from.

    Returns
    -------
    type
        A subclass of ``numba.cuda.HostOnlyCUDAMemoryManager``.

    Raises
    ------
    ValueError
        If kernels cannot use the memory.
    """
    _check(mr, "numba_memory_manager")
    cuda = import_module("numba.cuda")
    memory = _Memory()

    class ResourceMemoryManager(cuda.HostOnlyCUDAMemoryManager):
        """Device memory of a `MemoryResource`; page-locked memory as Numba itself has it."""

        resource = mr

        @property
        def interface_version(self):
            return 1

        def initialize(self):
            """Nothing is to be prepared."""

        def memalloc(self, size):
            address = memory.take(mr, size, 0)
            return cuda.MemoryPointer(
                self.context, address, size, finalizer=lambda: memory.release(address)
            )

        def get_memory_info(self):
            info = Device(None if mr.device_id < 0 else mr.device_id).memory_info
            return cuda.MemoryInfo(free=info.free, total=info.total)

        def get_ipc_handle(self, memory):
            raise NotImplementedError(
                f"memory of {mr!r} cannot be opened by Numba in another process: share the buffer "
                "of an IPC-enabled resource instead"
            )

    return ResourceMemoryManager
