# SPDX-License-Identifier: Apache-2.0
"""CUDA objects for Python: devices, streams, events, kernels, memory.

Every public name is loaded when it is first used; importing the package opens no library.
"""

from importlib import import_module

from cuda.core._version import __version__ as _release

__version__ = "1.2.2"  # the API level, which clients parse
__implementation__ = f"halfwarp {_release}"

_HOMES = {
    "_core": (
        "Buffer CUDAError Context Device DeviceMemoryResource Event LEGACY_DEFAULT_STREAM "
        "LegacyPinnedMemoryResource MemoryResource NVRTCError OutOfMemoryError "
        "PER_THREAD_DEFAULT_STREAM Stream host_launch"
    ),
    "memory.device_memory_resource_options": "DeviceMemoryResourceOptions",
    "execution.stream.event_options": "EventOptions",
    "execution.stream.stream_options": "StreamOptions",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}
_SUBMODULES = ("typing",)

__all__ = sorted([*_HOME_OF, *_SUBMODULES])  # noqa: PLE0605


def __getattr__(name):
    if name in _SUBMODULES:
        return import_module(f"{__name__}.{name}")
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted([*globals(), *__all__])
