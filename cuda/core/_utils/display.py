# SPDX-License-Identifier: Apache-2.0
"""HTML output for notebooks: tables of devices, memory, kernels, streams and graphs.

Display changes no state and does not initialize a device.
"""

from html import escape

from cuda.core.memory.adaptors.figures import pool_figures_of

UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")
BAR = "#1f6fb4"


def size_text(size):
    """Return a size in bytes as readable text."""
    unit = 0
    while size >= 1024 and unit + 1 < len(UNITS):
        size, unit = size / 1024, unit + 1
    return f"{size:.4g} {UNITS[unit]}"


def table(title, rows):
    """Return an HTML table of rows (name, value) or (name, value, bar fraction)."""
    lines = [f"<table><caption><b>{escape(title)}</b></caption>"]
    for name, value, *fractions in rows:
        bar = "".join(
            f'<svg width="100" height="10" style="margin-left:8px"><rect width="100" height="10" '
            f'fill="none" stroke="{BAR}"/><rect width="{100 * min(1, each):.1f}" height="10" '
            f'fill="{BAR}"/></svg>'
            for each in fractions
        )
        lines.append(
            f'<tr><th style="text-align:left">{escape(name)}</th>'
            f'<td style="text-align:left">{escape(str(value))}{bar}</td></tr>'
        )
    return "".join([*lines, "</table>"])


def device_html(device):
    from cuda.core import CUDAError

    properties = device.properties
    rows = [
        ("compute capability", "{}.{}".format(*device.compute_capability)),
        ("multiprocessors", properties.multiprocessor_count),
        ("PCI address", device.pci_bus_id),
        ("UUID", device.uuid),
    ]
    try:
        free, total = device.memory_info
        used = total - free
        rows.insert(1, ("memory", f"{size_text(used)} of {size_text(total)} in use", used / total))
    except (CUDAError, RuntimeError):  # not initialized, or the context is lost
        rows.insert(1, ("memory", size_text(device.total_memory)))
    return table(f"Device {device.device_id}: {device.name}", rows)


def resource_html(resource):
    """Return HTML, or None if the resource has no statistics; the notebook then shows its repr."""
    try:
        figures = pool_figures_of(resource)
    except RuntimeError:  # the resource of a parent process
        return None
    if not figures:
        return None
    peak = max(1, figures.get("reserved_bytes.peak", 0))
    rows = [row(name, value, peak) for name, value in figures.items()]
    return table(repr(resource), rows)


def row(name, value, peak):
    words = name.replace("_", " ").replace(".", ", ")
    if "bytes" in name and not name.endswith("total"):
        return words, size_text(value), value / peak
    if "bytes" in name or name == "largest_free_block":
        return words, size_text(value)
    return words, f"{value:.1%}" if isinstance(value, float) else f"{value:,}"


def buffer_html(buffer):
    """Return HTML, or None if the buffer is closed; the notebook then shows its repr."""
    if buffer.is_closed:
        return None
    access = [name for name in ("device", "host") if getattr(buffer, f"is_{name}_accessible")]
    rows = [
        ("size", size_text(buffer.size)),
        ("address", f"{int(buffer.handle):#x}"),
        ("accessible from", " and ".join(access)),
        ("resource", buffer.memory_resource),
    ]
    return table("Managed buffer" if buffer.is_managed else "Buffer", rows)


def kernel_html(kernel):
    """Return HTML, or None if the kernel was not loaded. `handle` would retain its library."""
    name = repr(kernel).partition(" name=")[2].strip("'>")
    if not name:
        return None
    attributes = kernel.attributes
    rows = [
        ("arguments", kernel.num_arguments),
        ("registers of a thread", attributes.num_regs),
        ("threads of a block, at most", attributes.max_threads_per_block),
        ("shared memory", size_text(attributes.shared_size_bytes)),
        ("local memory of a thread", size_text(attributes.local_size_bytes)),
    ]
    return table(f"Kernel {name}", rows)


def stream_html(stream):
    """Return HTML, or None if the stream is closed. Its work is not queried: it may be captured."""
    if stream.is_closed:
        return None
    rows = [
        ("handle", f"{int(stream.handle):#x}"),
        ("device", stream.device.device_id),
        ("priority", stream.priority),
        ("waits for the default stream", "no" if stream.is_nonblocking else "yes"),
    ]
    return table("Stream", rows)


def builder_html(builder):
    """Return HTML, with the picture of the graph after its capture."""
    if builder.is_closed:
        return None
    state = repr(builder).removeprefix("<GraphBuilder ").partition(" stream=")[0]
    rows = [("state", state), ("stream", f"{int(builder.stream.handle):#x}")]
    picture = ""
    if state == "ended":
        definition = builder.graph_definition
        rows.append(("nodes", len(definition.nodes())))
        picture = definition._repr_svg_() or ""
    return f"<div>{table('GraphBuilder', rows)}{picture[picture.find('<svg') :]}</div>"


def graph_html(graph):
    """Return HTML, or None if the graph is closed."""
    if graph.is_closed:
        return None
    rows = [("number", graph.id), ("handle", f"{int(graph.handle):#x}")]
    return table("Graph, ready to launch", rows)
