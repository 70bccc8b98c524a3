# SPDX-License-Identifier: Apache-2.0
"""Reference pages of `cuda.core`: one for each topic, with every public name and its members.

The documentation's build writes them from the built package; they are not committed.
"""

import dataclasses
import functools
import inspect
import re
import textwrap
from importlib import import_module

from .api_examples import examples_of
from .members import Names, bases_of, describing_class, is_public_member, listed_classes
from .tables import list_table, underlined

# Names of `cuda.core` itself by page. Other memory resources are on the page of resources, and all
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
    "memory": ("Buffers", "Buffer ManagedBuffer"),
    "memory_resources": (
        "Memory resources",
        "MemoryResource DeviceMemoryResource DeviceMemoryResourceOptions "
        "PinnedMemoryResource PinnedMemoryResourceOptions LegacyPinnedMemoryResource "
        "ManagedMemoryResource ManagedMemoryResourceOptions VirtualMemoryResource "
        "VirtualMemoryResourceOptions GraphMemoryResource",
    ),
    "memory_adaptors": (
        "Pools and adaptors",
        "PoolMemoryResource CallbackMemoryResource LimitingMemoryResource LoggingMemoryResource "
        "StatisticsMemoryResource TrackingMemoryResource",
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
# The pages of the guide that explain the names of a page.
GUIDES = {
    "devices": "contexts system",
    "streams": "tutorial asyncio profiling",
    "memory": "memory managed_memory sharing",
    "memory_resources": "memory pools managed_memory",
    "memory_adaptors": "memory_adaptors pools",
    "compiling": "linking program_caches",
    "launching": "arguments block_size launch_attributes",
    "errors": "errors troubleshooting",
    "others": "arrays textures",
    "graph": "graphs capturing",
    "graph_nodes": "graphs",
    "texture": "textures",
    "utils": "arrays memory program_caches",
    "typing": "arguments",
    "interop": "memory_adaptors coming_from_others",
    "system": "system",
    "checkpoint": "checkpoint",
    "emulation": "emulator checks",
}
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
            pages["memory_resources" if "MemoryResource" in name else "others"][1].append(name)
    pages = {page: (title, full("cuda.core", names)) for page, (title, names) in pages.items()}
    for module, title in TITLES.items():
        pages[module] = title, full(f"cuda.core.{module}", public_names(module))
    for page, (module, names) in RETURNED.items():
        pages[page][1].extend(full(f"cuda.core.{module}", names.split()))
    pages["graph"], pages["graph_nodes"] = without_nodes(*pages["graph"])
    return pages


def without_nodes(title, names):
    """Divide the page of graphs, which would be too long for a browser."""
    nodes = [name for name in names if name.endswith("Node")]
    return (title, [name for name in names if name not in nodes]), ("Nodes of graphs", nodes)


@functools.cache
def names():
    """Return the names of the reference, as the guide writes them."""
    return Names([name for _, listed in contents().values() for name in listed])


def full(module, names):
    """Return the names with their module."""
    return [f"{module}.{name}" for name in names]


def pages():
    """Return path below the folder of reference pages: text."""
    listed_pages = contents()
    entries = "".join(f"   {page}\n" for page in listed_pages)
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
    listed = listed_classes(name for _, names in listed_pages.values() for name in names)
    texts = {"index.rst": index}
    for page, (title, names) in listed_pages.items():
        examples = examples_of(page)
        parts = [underlined(title, "="), guides_of(page), examples.introduction()]
        parts += [section(name, listed, examples) for name in names]
        texts[f"{page}.rst"] = "\n".join(parts)
    return texts


def guides_of(page):
    """Return the line that links to the guide."""
    links = ", ".join(f":doc:`/guide/{name}`" for name in GUIDES[page].split())
    return f"Guide: {links}.\n"


def section(full_name, listed, examples):
    """Return the section of a name: heading, autodoc directive, example, fields of options."""
    module, _, name = full_name.rpartition(".")
    thing = getattr(import_module(module), name)
    head, example = underlined(name, "-"), examples.text(full_name)
    if not isinstance(thing, type):
        kind = "autofunction" if callable(thing) else "autodata"
        return f"{head}\n.. {kind}:: {full_name}\n{example}"
    text = f"{head}\n.. autoclass:: {full_name}\n{member_options(thing, listed)}"
    return text + textwrap.indent(example, "   ") + fields_of(thing)  # before the members


def member_options(cls, listed):
    if issubclass(cls, BaseException):
        return "   :show-inheritance:\n"
    fields = {f.name for f in dataclasses.fields(cls)} if dataclasses.is_dataclass(cls) else ()
    names = [
        name
        for name in dir(cls)
        if name not in fields  # they are in a table
        and is_public_member(cls, name)
        and describing_class(cls, name, listed) is cls
    ]
    bases = ", ".join(f":class:`{listed[base]}`" for base in bases_of(cls, listed))
    inherited = f"\n   It also has the members of {bases}.\n" if bases else ""
    return (f"   :members: {', '.join(names)}\n   :undoc-members:\n" if names else "") + inherited


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
