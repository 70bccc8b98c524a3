# SPDX-License-Identifier: Apache-2.0
"""Reference pages of `cuda.core`: one for each topic, with every public name and its members.

The documentation's build writes them from the built package; they are not committed.
"""

import dataclasses
import inspect
import re
from importlib import import_module

from .tables import list_table, underlined

# Names of `cuda.core` itself by page. Other memory resources are on the page of memory, and all
# other names on the last page.
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
    "memory": (
        "_sharing",
        "IPCAllocationHandle IPCBufferDescriptor IPCEventDescriptor "
        "VirtualMemoryIPCBufferDescriptor",
    ),
    "graph": ("_graph", "GraphMemoryResourceAttributes AdjacencySetProxy"),
}


def public_names(module):
    """Return the public names of one of `MODULES` except modules, in alphabetical order."""
    package = import_module(f"cuda.core.{module}".rstrip("."))
    return sorted(n for n in package.__all__ if not inspect.ismodule(getattr(package, n)))


def contents():
    """Return page: (title, full names on the page)."""
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
    """Return the names with their module."""
    return [f"{module}.{name}" for name in names]


def pages():
    """Return path below the folder of reference pages: text."""
    listed = contents()
    entries = "".join(f"   {page}\n" for page in listed)
    index = (
        f"{underlined('Reference of cuda.core', '=')}\n"
        "This reference has every public class, method, property and function. Each description\n"
        "states the order of execution:\n\n"
        "- *Stream-ordered*: the work is submitted to a stream, and the call returns before it is "
        "complete.\n"
        "- *Blocks the host*: the call returns when the work is complete.\n"
        "- *Host only*: no work is submitted to the device.\n\n"
        "Pass a stream wherever a signature has ``stream=...``. A call without one still runs on "
        "the default stream, with a ``DeprecationWarning``.\n\n"
        f".. toctree::\n   :maxdepth: 2\n\n{entries}"
    )
    texts = {"index.rst": index}
    for page, (title, names) in listed.items():
        parts = [underlined(title, "="), *(section(name) for name in names)]
        texts[f"{page}.rst"] = "\n".join(parts)
    return texts


def section(full_name):
    """Return the section of a name: heading, autodoc directive, fields of an options class."""
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
    if dataclasses.is_dataclass(cls):  # its fields are in a table
        return members(documented_methods(cls))
    return members([name for name in dir(cls) if is_public_member(cls, name)])


def members(names):
    return f"   :members: {', '.join(names)}\n   :undoc-members:\n" if names else ""


def documented_methods(cls):
    fields = {field.name for field in dataclasses.fields(cls)}
    return [name for name in dir(cls) if name not in fields and is_public_member(cls, name)]


def is_public_member(cls, name):
    """Return whether a member is public and defined by a class of this package."""
    if name.startswith("_"):
        return False
    home = next((base for base in cls.__mro__ if name in vars(base)), None)
    return home is not None and home.__module__.startswith("cuda.")


def fields_of(cls):
    """Return a table of a dataclass's fields: name, type, default."""
    if not dataclasses.is_dataclass(cls):
        return ""
    rows = [
        [f"``{field.name}``", type_of(field), default_of(field)]
        for field in dataclasses.fields(cls)
        if not field.name.startswith("_")
    ]
    return "\n" + list_table(["field", "type", "default"], rows, [30, 45, 25])


def type_of(field):
    """Return the annotated type without module names."""
    text = field.type if isinstance(field.type, str) else inspect.formatannotation(field.type)
    return f"``{re.sub(r'[A-Za-z_]+[.](?=[A-Za-z_])', '', text)}``"


def default_of(field):
    if field.default is not dataclasses.MISSING:
        return f"``{field.default!r}``"
    if field.default_factory is not dataclasses.MISSING:
        return f"``{field.default_factory()!r}``"
    return "required"
