# SPDX-License-Identifier: Apache-2.0
"""Occupancy of a kernel for each block size, as numbers, text and chart."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

WIDTH, HEIGHT, LEFT, TOP, BOTTOM, RIGHT = 480, 240, 48, 28, 40, 12
INK = "#1f6fb4"


class OccupancyCurve:
    """The occupancy for each block size, the result of `KernelOccupancy.plot`.

    A notebook displays it as a chart; its `repr` is a table. Matplotlib draws it with
    ``plt.step(curve.block_sizes, curve.occupancy)``.

    Attributes
    ----------
    kernel : str
        Name of the kernel.
    block_sizes : tuple of int
        Numbers of threads per block, the multiples of the warp size.
    blocks : tuple of int
        Number of resident blocks per multiprocessor for each size.
    occupancy : tuple of float
        Fraction of the multiprocessor's threads that these blocks use.
    """

    def __init__(
        self,
        kernel: str,
        block_sizes: Iterable[int],
        blocks: Iterable[int],
        occupancy: Iterable[float],
    ) -> None:
        self.kernel, self.block_sizes = kernel, tuple(block_sizes)
        self.blocks, self.occupancy = tuple(blocks), tuple(occupancy)

    def __repr__(self) -> str:
        lines = [f"occupancy of {self.kernel}", "threads  blocks  occupancy"]
        for threads, blocks, part in zip(
            self.block_sizes, self.blocks, self.occupancy, strict=True
        ):
            bar = "#" * round(40 * part)
            lines.append(f"{threads:7}  {blocks:6}  {part:7.0%}    {bar}".rstrip())
        return "\n".join(lines)

    def _repr_svg_(self) -> str:
        """Return the chart for a notebook. Host only."""
        from html import escape

        width, height = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
        largest = self.block_sizes[-1]

        def x(threads):
            return f"{LEFT + width * threads / largest:.1f}"

        def y(part):
            return f"{TOP + height * (1 - part):.1f}"

        path = f"M{x(0)} {y(self.occupancy[0])}" + "".join(
            f"V{y(part)}H{x(threads)}"
            for threads, part in zip(self.block_sizes, self.occupancy, strict=True)
        )
        lines = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
            f'width="{WIDTH}" font-family="sans-serif" font-size="11">',
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
            f'<text x="{LEFT}" y="16">occupancy of {escape(self.kernel)}</text>',
        ]
        for part in (0, 0.25, 0.5, 0.75, 1):
            lines.append(f'<path d="M{LEFT} {y(part)}H{WIDTH - RIGHT}" stroke="#ddd"/>')
            lines.append(f'<text x="{LEFT - 6}" y="{y(part)}" text-anchor="end">{part:.0%}</text>')
        for threads in range(0, largest + 1, largest // 4):
            lines.append(
                f'<text x="{x(threads)}" y="{HEIGHT - 22}" text-anchor="middle">{threads}</text>'
            )
        lines.append(f'<path d="{path}" fill="none" stroke="{INK}" stroke-width="1.5"/>')
        lines.append(f'<text x="{LEFT}" y="{HEIGHT - 6}">threads of a block</text></svg>')
        return "\n".join(lines)


def measure(occupancy, name, device, dynamic_shared_memory_size):
    """Measure the curve on a device; the size is in bytes, or a function of the block size."""
    properties = device.properties
    warp, threads = properties.warp_size, properties.max_threads_per_multiprocessor
    sizes = range(warp, properties.max_threads_per_block + 1, warp)
    blocks = [
        occupancy.max_active_blocks_per_multiprocessor(
            size,
            dynamic_shared_memory_size(size)
            if callable(dynamic_shared_memory_size)
            else dynamic_shared_memory_size,
        )
        for size in sizes
    ]
    parts = [count * size / threads for count, size in zip(blocks, sizes, strict=True)]
    return OccupancyCurve(name, sizes, blocks, parts)
