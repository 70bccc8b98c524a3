# SPDX-License-Identifier: Apache-2.0
"""Old and private module paths, each a module created on demand that forwards to today's objects.

`MODULES` lists each path below `cuda.core` with the names that existing code imports from it.
`PRIVATE` lists the home of a name that `cuda.core` itself does not export.
"""

import sys
import warnings
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType

from cuda.bindings._internal._forwarding import ForwardingTable

ROOT = "cuda.core"
EXPERIMENTAL = f"{ROOT}.experimental"

MODULES = {
    "_context": "Context ContextOptions DeviceResourcesType Stream StreamOptions",
    "_device": (
        "CUDAError ContextOptions Device DeviceProperties Event EventOptions IsStreamType Stream "
        "StreamOptions _tls"
    ),
    "_device_resources": (
        "DeviceResources SMResource SMResourceOptions WorkqueueResource WorkqueueResourceOptions"
    ),
    "_dlpack": "DLDeviceType",
    "_event": "Event EventOptions IPCEventDescriptor _reduce_event",
    "_graphics": "GraphicsResource",
    "_host": "Host",
    "graph._adjacency_set_proxy": "AdjacencySetProxy",
    "graph._graph_builder": "Graph GraphBuilder GraphCompleteOptions GraphDebugPrintOptions",
    "graph._graph_definition": "GraphCondition GraphDefinition",
    "graph._graph_node": "GraphNode",
    "graph._subclasses": (
        "AllocNode ChildGraphNode ConditionalNode EmptyNode EventRecordNode EventWaitNode "
        "ExecutableChildGraphNode ExecutableEventRecordNode ExecutableEventWaitNode "
        "ExecutableGraphNode ExecutableHostCallbackNode ExecutableKernelNode ExecutableMemcpyNode "
        "ExecutableMemsetNode FreeNode HostCallbackNode IfElseNode IfNode KernelNode MemcpyNode "
        "MemsetNode SwitchNode WhileNode"
    ),
    "_kernel_arg_handler": "ParamHolder",
    "_launch_config": "Device LaunchConfig _to_native_launch_config",
    "_launcher": "launch",
    "_layout": "_StridedLayout",
    "_linker": (
        "Linker LinkerOptions _decide_nvjitlink_or_driver _driver _use_nvjitlink_backend "
        "assert_type"
    ),
    "_memory": (
        "Buffer DeviceMemoryResource DeviceMemoryResourceOptions DevicePointerT "
        "DevicePointerType GraphMemoryResource IPCAllocationHandle IPCBufferDescriptor "
        "LegacyPinnedMemoryResource ManagedBuffer ManagedMemoryResource "
        "ManagedMemoryResourceOptions MemoryResource PinnedMemoryResource "
        "PinnedMemoryResourceOptions VirtualMemoryResource VirtualMemoryResourceOptions "
        "_SynchronousMemoryResource"
    ),
    "_memory._buffer": "Buffer DevicePointerT DevicePointerType MemoryResource",
    "_memory._ipc": "IPCAllocationHandle IPCBufferDescriptor VirtualMemoryIPCBufferDescriptor",
    "_memory._copy_enums": "CopyOptions MemcpyOverlapMode MemcpySrcAccessOrder",
    "_memory._copy_ops": "copy_batch",
    "_memory._device_memory_resource": "DeviceMemoryResource DeviceMemoryResourceOptions",
    "_memory._graph_memory_resource": "GraphMemoryResource",
    "_memory._managed_buffer": "AccessedBySetProxy ManagedBuffer _get_int_attr",
    "_memory._managed_memory_ops": "discard_batch discard_prefetch_batch prefetch_batch",
    "_memory._managed_memory_resource": "ManagedMemoryResource ManagedMemoryResourceOptions",
    "_memory._pinned_memory_resource": "PinnedMemoryResource PinnedMemoryResourceOptions",
    "_memory._virtual_memory_resource": "VirtualMemoryResource VirtualMemoryResourceOptions",
    "_memory._legacy": "LegacyPinnedMemoryResource MemoryResource _SynchronousMemoryResource",
    "_memory._memory_pool": "_MemPool _MemPoolAttributes",
    "_memory._peer_access_utils": "PeerAccessibleBySetProxy",
    "_memoryview": (
        "StridedMemoryView _StridedMemoryViewProxy args_viewable_as_strided_memory bfloat16 "
        "view_as_array_interface view_as_cai"
    ),
    "_module": (
        "Kernel KernelAttributes KernelOccupancy MaxPotentialBlockSizeOccupancyResult ObjectCode "
        "ParamInfo"
    ),
    "_program": (
        "Program ProgramOptions _can_load_generated_ptx _find_libdevice_path _get_nvvm_module "
        "_program_compile_uncached assert_type driver_version"
    ),
    "_resource_handles": "",  # for cimport
    "_stream": (
        "Event EventOptions IsStreamT IsStreamType LEGACY_DEFAULT_STREAM PER_THREAD_DEFAULT_STREAM "
        "Stream Stream_accept StreamOptions default_stream"
    ),
    "_tensor_map": (
        "TensorMapDataType TensorMapDescriptor TensorMapDescriptorOptions TensorMapIm2ColWideMode "
        "TensorMapInterleave TensorMapL2Promotion TensorMapOOBFill TensorMapSwizzle "
        "_NUMPY_DTYPE_TO_TMA _require_view_device"
    ),
    "_version": "__version__",
    "texture._array": "OpaqueArray OpaqueArrayOptions",
    "texture._mipmapped_array": "MipmappedArray MipmappedArrayOptions",
    "texture._surface": "ResourceDescriptor SurfaceObject",
    "texture._texture": "ResourceDescriptor TextureObject TextureObjectOptions",
    "utils._program_cache": (
        "FileStreamProgramCache InMemoryProgramCache ProgramCacheResource make_program_cache_key"
    ),
    "utils._program_cache._abc": "ProgramCacheResource",
    "utils._program_cache._file_stream": "FileStreamProgramCache",
    "utils._program_cache._in_memory": "InMemoryProgramCache",
    "_utils.clear_error_support": (
        "assert_type assert_type_str_or_bytes_like raise_code_path_meant_to_be_unreachable"
    ),
}

# The module at such a path is the same object, so a name that a test replaces is used.
ALIASES = {"utils._program_cache._keys": "compile.cache.keys"}

# Paths above `cuda.core`, which our finders do not see: the generator writes files for them.
# cuda.<old>: cuda.bindings.<new>
OLD_MODULES = {"cuda": "driver", "cudart": "runtime", "nvrtc": "nvrtc"}
OLD_CIMPORTS = {"ccuda": "cydriver", "ccudart": "cyruntime", "cnvrtc": "cynvrtc"}

PRIVATE = {
    "_core": (
        "DeviceProperties KernelAttributes KernelOccupancy ParamHolder Stream_accept _MemPool "
        "_MemPoolAttributes _SynchronousMemoryResource _tls _to_native_launch_config default_stream"
    ),
    "_sharing": (
        "IPCAllocationHandle IPCBufferDescriptor IPCEventDescriptor "
        "VirtualMemoryIPCBufferDescriptor"
    ),
    "_views": (
        "StridedMemoryView _StridedLayout _StridedMemoryViewProxy args_viewable_as_strided_memory "
        "view_as_array_interface view_as_cai"
    ),
    "views.device_types": "DLDeviceType",
    "memory.driver_sets": "AccessedBySetProxy PeerAccessibleBySetProxy",
    "_graph": "AdjacencySetProxy",
    "graph": (
        "AllocNode ChildGraphNode ConditionalNode EmptyNode EventRecordNode EventWaitNode "
        "ExecutableChildGraphNode ExecutableEventRecordNode ExecutableEventWaitNode "
        "ExecutableGraphNode ExecutableHostCallbackNode ExecutableKernelNode ExecutableMemcpyNode "
        "ExecutableMemsetNode FreeNode GraphNode HostCallbackNode IfElseNode IfNode KernelNode "
        "MemcpyNode MemsetNode SwitchNode WhileNode"
    ),
    "texture": (
        "MipmappedArray MipmappedArrayOptions OpaqueArray OpaqueArrayOptions ResourceDescriptor "
        "SurfaceObject TextureObject TextureObjectOptions"
    ),
    "utils": (
        "CopyOptions FileStreamProgramCache InMemoryProgramCache MemcpyOverlapMode "
        "MemcpySrcAccessOrder ProgramCacheResource copy_batch discard_batch "
        "discard_prefetch_batch make_program_cache_key prefetch_batch"
    ),
    "_compile": "_can_load_generated_ptx _decide_nvjitlink_or_driver _get_nvvm_module",
    "module.records": "MaxPotentialBlockSizeOccupancyResult ParamInfo",
    "_utils.version": "driver_version",
    "sharing.reductions": "_reduce_event",
    "extension.private_names": (
        "_NUMPY_DTYPE_TO_TMA _driver _find_libdevice_path _get_int_attr _program_compile_uncached "
        "_require_view_device _use_nvjitlink_backend assert_type assert_type_str_or_bytes_like "
        "bfloat16 raise_code_path_meant_to_be_unreachable"
    ),
    "typing": "DeviceResourcesType DevicePointerT DevicePointerType IsStreamT IsStreamType",
}
_HOME_OF = {name: home for home, names in PRIVATE.items() for name in names.split()}


def find_spec(fullname):
    """Return the spec of a table module, or of a submodule of `cuda.core.experimental`."""
    if fullname == EXPERIMENTAL:
        return ModuleSpec(fullname, _Experimental, is_package=True)
    if fullname.startswith(f"{EXPERIMENTAL}."):
        # The spec exists only if the target does, so a failure names the requested module.
        spec = import_module("importlib.util").find_spec(ROOT + fullname.removeprefix(EXPERIMENTAL))
        return ModuleSpec(fullname, _SameModule) if spec else None
    if fullname.removeprefix(f"{ROOT}.") in ALIASES:
        return ModuleSpec(fullname, _Alias)
    return _TABLE.find_spec(fullname)


def resolve(name):
    """Return the current object of an old name."""
    home = f"{ROOT}.{_HOME_OF[name]}" if name in _HOME_OF else ROOT
    return getattr(import_module(home), name)


_TABLE = ForwardingTable(
    ROOT,
    MODULES,
    lambda module, name: resolve(name),
    "Forwards to the objects of `cuda.core`.",
)


class _ExperimentalModule(ModuleType):
    """The name of `cuda.core` before 1.0."""

    def __getattr__(self, name):
        if name.startswith("__"):  # the import system reads this module's own attributes
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        if name in ("StridedMemoryView", "args_viewable_as_strided_memory"):
            return getattr(import_module(f"{ROOT}.utils"), name)
        return getattr(import_module(ROOT), name)

    def __dir__(self):
        return dir(import_module(ROOT))


class _Experimental:
    """Loads `cuda.core.experimental`."""

    @staticmethod
    def create_module(spec):
        return _ExperimentalModule(spec.name, "Forwards to `cuda.core`.")

    @staticmethod
    def exec_module(module):
        module.__all__ = import_module(ROOT).__all__
        # The finder is first: others would find a nested submodule as a file and run it twice.
        sys.meta_path.insert(0, _ExperimentalPaths)
        # Level 2 is the importer: `warnings` skips the frames of the import system.
        warnings.warn(f"{EXPERIMENTAL} is deprecated: use {ROOT}", DeprecationWarning, stacklevel=2)


class _ExperimentalPaths:
    """Finds all modules below `cuda.core.experimental`."""

    @staticmethod
    def find_spec(fullname, path=None, target=None):
        return find_spec(fullname) if fullname.startswith(f"{EXPERIMENTAL}.") else None


class _SameModule:
    """Loads `cuda.core.experimental.x` as the same module object as `cuda.core.x`."""

    @staticmethod
    def create_module(spec):
        return None

    @staticmethod
    def exec_module(module):
        name = module.__name__
        # The import system returns the module that sys.modules holds.
        sys.modules[name] = import_module(ROOT + name.removeprefix(EXPERIMENTAL))


class _Alias(_SameModule):
    """Loads a path of `ALIASES` as the module that it names."""

    @staticmethod
    def exec_module(module):
        name = module.__name__
        sys.modules[name] = import_module(f"{ROOT}.{ALIASES[name.removeprefix(f'{ROOT}.')]}")
