# SPDX-License-Identifier: Apache-2.0
"""Public names of the API level of `cuda.core`, by theme: the README's table."""

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


def names():
    """Return all public names of the level, in the order of the table."""
    return [name for row in THEMES.values() for name in row.split()]


def markdown():
    """Return the table in the README's format."""
    lines = ["| | |", "| --- | --- |"]
    for theme, row in THEMES.items():
        lines.append(f"| {theme} | {', '.join(f'`{name}`' for name in row.split())} |")
    return "\n".join(lines)
