# SPDX-License-Identifier: Apache-2.0
"""HTML output for notebooks: tables and charts of devices, memory resources and occupancy.

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
