# SPDX-License-Identifier: Apache-2.0
"""CUDA objects for Python: devices, streams, events, kernels, memory.

A public name is imported when it is first used; importing the package opens no library.
"""

import os
import sys
from importlib import import_module

from halfwarp import __version__ as _release

__version__ = "1.2.2"  # API level; clients parse it
__implementation__ = f"halfwarp {_release}"

_HOMES = {
    "_core": (
        "Buffer CUDAError CUDAWarning Context Device DeviceMemoryResource Event Kernel "
        "LEGACY_DEFAULT_STREAM LaunchConfig LegacyPinnedMemoryResource MemoryResource "
        "NVRTCError ObjectCode OutOfMemoryError PER_THREAD_DEFAULT_STREAM PoolMemoryResource "
        "PreparedLaunch Stream host_launch launch recent_launches"
    ),
    "_compile": "Linker Program",
    "_graph": "GraphMemoryResource",
    "_located_memory": (
        "ManagedBuffer ManagedMemoryResource PinnedMemoryResource VirtualMemoryResource"
    ),
    "_resources": "DeviceResources SMResource WorkqueueResource",
    "_texture": "GraphicsResource",
    "compile.program_options": "ProgramOptions",
    "link.linker_options": "LinkerOptions",
    "execution.launch.access_policy_window": "AccessPolicyWindow",
    "execution.resources.options": "ContextOptions SMResourceOptions WorkqueueResourceOptions",
    "execution.stream.event_options": "EventOptions",
    "execution.stream.stream_options": "StreamOptions",
    "memory.device_memory_resource_options": "DeviceMemoryResourceOptions",
    "graph": (
        "Graph GraphBuilder GraphCompleteOptions GraphCondition GraphDebugPrintOptions "
        "GraphDefinition"
    ),
    "_views": "TensorMapDescriptor",
    "memory.adaptors.callback_memory_resource": "CallbackMemoryResource",
    "memory.adaptors.statistics_memory_resource": "StatisticsMemoryResource",
    "memory.adaptors.limiting_memory_resource": "LimitingMemoryResource",
    "memory.adaptors.logging_memory_resource": "LoggingMemoryResource",
    "memory.adaptors.tracking_memory_resource": "TrackingMemoryResource",
    "memory.host": "Host",
    "memory.managed.managed_memory_resource_options": "ManagedMemoryResourceOptions",
    "memory.pinned.pinned_memory_resource_options": "PinnedMemoryResourceOptions",
    "memory.virtual.virtual_memory_resource_options": "VirtualMemoryResourceOptions",
    "typing": "IsStreamT",
    "views.tensor_maps.tensor_map_options": (
        "TensorMapDataType TensorMapDescriptorOptions TensorMapIm2ColWideMode TensorMapInterleave "
        "TensorMapL2Promotion TensorMapOOBFill TensorMapSwizzle"
    ),
}
# Modules in the shared object of `_core`, because they share its C++ state.
_IN_CORE = ("_graph", "_sharing", "_texture")
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}
_SUBMODULES = ("checkpoint", "graph", "system", "texture", "typing", "utils")
# Old spellings: importable, not listed.
_SILENT = (
    "IsStreamT",
    "Graph",
    "GraphBuilder",
    "GraphCompleteOptions",
    "GraphCondition",
    "GraphDebugPrintOptions",
    "GraphDefinition",
)
# Names that the reference lacks. `import *` does not import them.
_UNLISTED = ("emulation", "get_include", "interop")
_OLDER = {"GraphDef": "graph"}  # `graph` warns on access

__all__ = sorted({*_HOME_OF, *_SUBMODULES}.difference(_SILENT))


def __getattr__(name):
    if name in _HOME_OF:
        value = getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
        globals()[name] = value
        return value
    if name in _OLDER:
        return import_module(f"{__name__}.{_OLDER[name]}")._older(name, 3)
    if name in _SUBMODULES or name in _UNLISTED or _is_private_module(name):
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _is_private_module(name):
    """Return whether existing code accesses this module as an attribute without an import."""
    if not name.startswith("_") or name.startswith("__"):
        return False
    return name == "_utils" or name in import_module("cuda.core._forwarding").MODULES


def get_include():
    """Return the folder of the C++ headers, for modules that cimport `cuda.core`. Host only."""
    return f"{__path__[0]}/_include"


def __dir__():
    own = (name for name in globals() if name.startswith("__"))
    return sorted({*own, *__all__, *_UNLISTED})


class _OldPaths:
    """The last finder of the import system, for modules without their own file."""

    @staticmethod
    def find_spec(fullname, path=None, target=None):
        if not fullname.startswith("cuda.core."):
            return None
        if fullname.removeprefix("cuda.core.") in _IN_CORE:
            return _spec_in_core(fullname)
        return import_module("cuda.core._forwarding").find_spec(fullname)


def _spec_in_core(fullname):
    from importlib.machinery import ExtensionFileLoader
    from importlib.util import spec_from_file_location

    path = import_module("cuda.core._core").__file__
    return spec_from_file_location(fullname, path, loader=ExtensionFileLoader(fullname, path))


sys.meta_path.append(_OldPaths)

# Folders that exist in NVIDIA's wheels only.
for _path in (f"{__path__[0]}/cu13", f"{__path__[0]}/../bindings/_lib"):
    if os.path.exists(_path):
        import_module("cuda.bindings._internal._mixed_installation").warn(_path)

if (
    "rlcompleter" in sys.modules
    or sys.flags.interactive
    or hasattr(sys, "ps1")
    or "PYTHONINSPECT" in os.environ
):
    import_module("cuda.core._utils.tab_completion").make_safe()
