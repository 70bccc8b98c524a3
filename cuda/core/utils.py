# SPDX-License-Identifier: Apache-2.0
"""Array views, program caches, and operations on batches of buffers.

A name is imported when it is first used.
"""

from importlib import import_module

_HOMES = {
    "_located_memory": "copy_batch discard_batch discard_prefetch_batch prefetch_batch",
    "memory.buffers.copy_options": "CopyOptions MemcpyOverlapMode MemcpySrcAccessOrder",
    "compile.cache.file_stream": "FileStreamProgramCache",
    "compile.cache.in_memory": "InMemoryProgramCache",
    "compile.cache.keys": "make_program_cache_key",
    "compile.cache.resource": "ProgramCacheResource",
    "_views": "StridedMemoryView args_viewable_as_strided_memory",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = sorted(_HOME_OF)
__path__ = []  # `_forwarding` lists the old paths below it


def __getattr__(name):
    if name in _HOME_OF:
        value = getattr(import_module(f"cuda.core.{_HOME_OF[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted([*(name for name in globals() if name.startswith("__")), *__all__])
