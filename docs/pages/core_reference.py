# SPDX-License-Identifier: Apache-2.0
"""Reference pages of `cuda.core`: one for each theme, with every public name and its members.

The documentation's build writes them from the built package; nothing of this is kept.
"""

import dataclasses
import inspect
import re
from importlib import import_module

from .tables import list_table, underlined

# Of the names in `cuda.core` itself, by page. Of others, memory resources are on that page, the
# rest on the last one.
THEMES = {
    "devices": (
        "Devices and contexts",
        "Device Context ContextOptions DeviceResources SMResource SMResourceOptions "
        "WorkqueueResource WorkqueueResourceOptions Host",
    ),
    "streams": (
        "Streams and events",
        "Stream StreamOptions LEGACY_DEFAULT_STREAM PER_THREAD_DEFAULT_STREAM Event EventOptions",
    ),
    "memory": (
        "Memory",
        "Buffer ManagedBuffer MemoryResource DeviceMemoryResource DeviceMemoryResourceOptions "
        "PinnedMemoryResource PinnedMemoryResourceOptions LegacyPinnedMemoryResource "
        "ManagedMemoryResource ManagedMemoryResourceOptions VirtualMemoryResource "
        "VirtualMemoryResourceOptions GraphMemoryResource",
    ),
    "compiling": (
        "Compiling and linking",
        "Program ProgramOptions ObjectCode Linker LinkerOptions",
    ),
    "launching": (
        "Kernels and launches",
        "Kernel LaunchConfig AccessPolicyWindow launch PreparedLaunch host_launch recent_launches",
    ),
    "errors": ("Errors", "CUDAError OutOfMemoryError NVRTCError CUDAWarning"),
    "others": (
        "Tensor maps, graphics and others",
        "TensorMapDescriptor TensorMapDescriptorOptions",
    ),
}
TITLES = {
    "graph": "Graphs",
    "texture": "Textures",
    "utils": "Views, copies, program caches",
    "typing": "Enumerations and types",
    "interop": "Allocators for other packages",
    "system": "The machine",
    "checkpoint": "Checkpoints",
    "emulation": "The emulator",
}
MODULES = ("", *TITLES)  # below cuda.core
# Classes whose objects come from methods and properties: page -> module and names.
RETURNED = {
    "devices": ("_core", "DeviceProperties"),
    "launching": (
        "_core",
        "KernelAttributes KernelOccupancy MaxPotentialBlockSizeOccupancyResult ParamInfo "
        "LaunchRecord",
    ),
    "memory": ("_sharing", "IPCAllocationHandle IPCBufferDescriptor IPCEventDescriptor"),
    "graph": ("_graph", "GraphMemoryResourceAttributes AdjacencySetProxy"),
}


def public_names(module):
    """Of one of `MODULES`, without the modules below it, in alphabetical order."""
    found = import_module(f"cuda.core.{module}".rstrip("."))
    return sorted(n for n in found.__all__ if not inspect.ismodule(getattr(found, n)))


def contents():
    """Page -> (title, the full names on it)."""
    pages = {page: (title, names.split()) for page, (title, names) in THEMES.items()}
    placed = {name for _, names in pages.values() for name in names}
    for name in public_names(""):
        if name not in placed:
            pages["memory" if "MemoryResource" in name else "others"][1].append(name)
    pages = {page: (title, full("cuda.core", names)) for page, (title, names) in pages.items()}
    for module, title in TITLES.items():
        pages[module] = title, full(f"cuda.core.{module}", public_names(module))
    for page, (module, names) in RETURNED.items():
        pages[page][1].extend(full(f"cuda.core.{module}", names.split()))
    return pages


def full(module, names):
    """With the module before each."""
    return [f"{module}.{name}" for name in names]


def pages():
    """Path below the folder of reference pages -> text."""
    listed = contents()
    entries = "".join(f"   {page}\n" for page in listed)
    index = (
        f"{underlined('Reference of cuda.core', '=')}\n"
        "Every public class, method, property and function, from the package itself. Each says\n"
        "when it happens:\n\n"
        "- *Stream-ordered*: the work is put into a stream, and the call returns before it is "
        "done.\n"
        "- *Blocks the host*: the call returns when the work is done.\n"
        "- *Host only*: nothing is given to the device.\n\n"
        "Name a stream wherever a signature has ``stream=...``. A call without one still runs, on "
        "the default stream, and gives a ``DeprecationWarning``.\n\n"
        f".. toctree::\n   :maxdepth: 2\n\n{entries}"
    )
    made = {"index.rst": index}
    for page, (title, names) in listed.items():
        parts = [underlined(title, "="), *(section(name) for name in names)]
        made[f"{page}.rst"] = "\n".join(parts)
    return made


def section(full_name):
    """One name: its heading, what autodoc knows, and the fields of an options class."""
    module, _, name = full_name.rpartition(".")
    thing = getattr(import_module(module), name)
    head = underlined(name, "-")
    if not isinstance(thing, type):
        kind = "autofunction" if callable(thing) else "autodata"
        return f"{head}\n.. {kind}:: {full_name}\n"
    text = f"{head}\n.. autoclass:: {full_name}\n{member_options(thing)}"
    return text + fields_of(thing)


def member_options(cls):
    if issubclass(cls, BaseException):
        return "   :show-inheritance:\n"
    if dataclasses.is_dataclass(cls):  # whose fields stand in a table
        return members(documented_methods(cls))
    return members([name for name in dir(cls) if is_public_member(cls, name)])


def members(names):
    return f"   :members: {', '.join(names)}\n   :undoc-members:\n" if names else ""


def documented_methods(cls):
    fields = {field.name for field in dataclasses.fields(cls)}
    return [name for name in dir(cls) if name not in fields and is_public_member(cls, name)]


def is_public_member(cls, name):
    """A member that a class of ours has: not what it inherits from those of Python."""
    if name.startswith("_"):
        return False
    home = next((base for base in cls.__mro__ if name in vars(base)), None)
    return home is not None and home.__module__.startswith("cuda.")


def fields_of(cls):
    """A table of the fields of a dataclass: name, type, default."""
    if not dataclasses.is_dataclass(cls):
        return ""
    rows = [
        [f"``{field.name}``", type_of(field), default_of(field)]
        for field in dataclasses.fields(cls)
        if not field.name.startswith("_")
    ]
    return "\n" + list_table(["field", "type", "default"], rows, [30, 45, 25])


def type_of(field):
    """As it is written, without the modules."""
    text = field.type if isinstance(field.type, str) else inspect.formatannotation(field.type)
    return f"``{re.sub(r'[A-Za-z_]+[.](?=[A-Za-z_])', '', text)}``"


def default_of(field):
    if field.default is not dataclasses.MISSING:
        return f"``{field.default!r}``"
    if field.default_factory is not dataclasses.MISSING:
        return f"``{field.default_factory()!r}``"
    return "required"
