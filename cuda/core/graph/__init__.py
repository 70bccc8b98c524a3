# SPDX-License-Identifier: Apache-2.0
"""Graphs: work that is defined once and launched repeatedly.

Each name is loaded on first access.
"""

import sys
from importlib import import_module

_HOMES = {
    "cuda.core._graph": (
        "AllocNode ChildGraphNode ConditionalNode EmptyNode EventRecordNode EventWaitNode "
        "ExecutableChildGraphNode ExecutableEventRecordNode ExecutableEventWaitNode "
        "ExecutableGraphNode ExecutableHostCallbackNode ExecutableKernelNode ExecutableMemcpyNode "
        "ExecutableMemsetNode FreeNode Graph GraphBuilder GraphCondition GraphDefinition GraphNode "
        "HostCallbackNode IfElseNode IfNode KernelNode MemcpyNode MemsetNode SwitchNode WhileNode"
    ),
    "cuda.core.graph.options": "GraphCompleteOptions GraphDebugPrintOptions",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

# Deprecated names: importable, but not in __all__.
_OLD_NAMES = {"Condition": "GraphCondition", "GraphDef": "GraphDefinition"}
# Importable, but not in __all__: the reference has no such public name.
_SILENT = {
    "GraphAllocOptions": "cuda.core.graph.options",
    "GraphUpdateError": "cuda.core._graph",
}

__all__ = sorted(_HOME_OF)


def __getattr__(name):
    if name in _OLD_NAMES:
        return _older(name, 3)
    home = _HOME_OF.get(name) or _SILENT.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def _older(name, level):
    """Return an object by its deprecated name, with a warning at stack level `level`.

    ``from module import name`` looks a name up twice; the lookup by the import system does not
    warn.
    """
    new = _OLD_NAMES[name]
    if sys._getframe(level - 1).f_globals.get("__name__") != "importlib._bootstrap":
        text = f"cuda.core.graph.{name} is deprecated: use cuda.core.graph.{new}"
        import_module("warnings").warn(text, DeprecationWarning, stacklevel=level)
    return __getattr__(new)


def __dir__():
    return sorted([*(name for name in globals() if name.startswith("__")), *__all__])
