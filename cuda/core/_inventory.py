# SPDX-License-Identifier: Apache-2.0
"""The public names of the API level that `cuda.core` provides, and which of them are not here yet.

`THEMES` is the whole of it: the names of the level by theme, in the order of the README's table,
which is made of it. Whether a name exists is asked of the package, and written down nowhere.
"""

import cuda.core

from halfwarp import __version__ as RELEASE

THEMES = {
    "devices": "Context ContextOptions Device DeviceResources Host SMResource SMResourceOptions "
    "WorkqueueResource WorkqueueResourceOptions",
    "streams and events": "Event EventOptions LEGACY_DEFAULT_STREAM PER_THREAD_DEFAULT_STREAM "
    "Stream StreamOptions",
    "compiling and linking": "Linker LinkerOptions ObjectCode Program ProgramOptions",
    "kernels": "Kernel LaunchConfig launch",
    "memory": "Buffer DeviceMemoryResource DeviceMemoryResourceOptions GraphMemoryResource "
    "LegacyPinnedMemoryResource ManagedBuffer ManagedMemoryResource ManagedMemoryResourceOptions "
    "MemoryResource PinnedMemoryResource PinnedMemoryResourceOptions VirtualMemoryResource "
    "VirtualMemoryResourceOptions",
    "textures and graphics": "GraphicsResource TensorMapDescriptor TensorMapDescriptorOptions "
    "texture",
    "graphs": "graph",
    "the machine": "checkpoint system",
    "types and utilities": "typing utils",
}
MODULES = frozenset({"checkpoint", "graph", "system", "texture", "typing", "utils"})

# What existing code imports from other modules, and what of that is still to come.
PRIVATE_LATER = {
    "_event": "IPCEventDescriptor",
    "_memory": "GraphMemoryResource IPCAllocationHandle IPCBufferDescriptor _ipc",
    "utils": "FileStreamProgramCache InMemoryProgramCache ProgramCacheResource "
    "make_program_cache_key",
}


def names():
    """All public names of the level, in the order of the table. Host only."""
    return [name for row in THEMES.values() for name in row.split()]


def exists(name):
    """Whether a public name of the level is here. Host only."""
    return name in cuda.core.__all__


def missing():
    """The public names of the level that are not here yet. Host only."""
    return [name for name in names() if not exists(name)]


def table():
    """For each theme its name, the names that are here, and those to come. Host only."""
    rows = []
    for theme, row in THEMES.items():
        here = [name for name in row.split() if exists(name)]
        rows.append((theme, here, [name for name in row.split() if name not in here]))
    return rows


def markdown():
    """The table as the README shows it. Host only."""
    lines = ["| | here | not yet |", "| --- | --- | --- |"]
    for theme, *sides in table():
        cells = (", ".join(f"`{name}`" for name in side) or "-" for side in sides)
        lines.append(f"| {theme} | {' | '.join(cells)} |")
    return "\n".join(lines)


def not_yet(module, name):
    """What to say of a name below `cuda.core` that is still to come; None for any other name."""
    public = module == "cuda.core" and name in missing()
    private = name in PRIVATE_LATER.get(module.removeprefix("cuda.core."), "").split()
    if not (public or private):
        return None
    here = [n for n in names() if exists(n)]
    return (
        f"{module}.{name} is not there yet: of the {len(names())} public names of cuda-core "
        f"{cuda.core.__version__}, halfwarp {RELEASE} has {len(here)}: {', '.join(here)}"
    )


def refuse_import(fullname):
    """Raise the ImportError for a name that is still to come. Host only.

    Without a `name`: the import system takes an error that names what it looks for as "go on".
    """
    module, _, name = fullname.rpartition(".")
    if text := not_yet(module, name):
        raise (ModuleNotFoundError if name in MODULES else ImportError)(text)
