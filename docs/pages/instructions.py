# SPDX-License-Identifier: Apache-2.0
"""The page of PTX instructions: the rows of the emulator's table."""

import re

from .tables import list_table, underlined

INTRODUCTION = """
This page lists the forms of PTX instructions that the emulator knows. A launch fails with
``CUDA_ERROR_NOT_SUPPORTED`` if its kernel can reach a refused form. The error names the
instruction and its line. A module fails to load if an instruction is newer than its ``.version``
or its ``.target``.

- *exact*: the PTX manual defines each bit of the result, and the emulator returns it.
- *documented*: the results are within the limits of the PTX manual. ``mma``, ``wmma`` and
  ``wgmma`` equal an H100 in every bit, except for the types that an H100 lacks. Other GPUs round
  some of their sums differently. No instruction of sm_100 and later was compared with a GPU.
- *refused*: the emulator does not support the form, for the reason below the table.

The compiler of a driver may fuse ``mul`` with ``add`` or ``sub`` if neither has a rounding
modifier. An H200's driver does so, while the emulator rounds both. A last bit can differ then.

A copy with an interleaved tensor map moves one slice of channels, and tensor maps with a fill of
NaN write 0x7FF7 in each 16 bits: an H200 does so, and the manual leaves both open.
"""
SAMPLER = "it reads a sampler of its own, which no texture object of the driver has"
MULTICAST = "it needs multicast objects of several GPUs"
# Why the emulator refuses a form.
REASONS = {
    "cp.im2col::w": "only figures show the pixels of the halo",
    "cp.im2col::w::128": "only figures show the pixels of the halo",
    "multimem.cp": MULTICAST,
    "multimem.ld_reduce": MULTICAST,
    "multimem.red": MULTICAST,
    "multimem.st": MULTICAST,
    "tcgen05.4x256b": "only figures show the lanes of the rows",
    "tensormap.swizzle_atomicity": "the manual leaves open where the atoms of a swizzle are",
    "txq.addr_mode_0": SAMPLER,
    "txq.addr_mode_1": SAMPLER,
    "txq.addr_mode_2": SAMPLER,
    "txq.filter_mode": SAMPLER,
    "txq.force_unnormalized_coords": SAMPLER,
    "txq.num_samples": "the emulator has no multi-sample textures",
    "tcgen05.ashift": "the manual leaves open which row repeats between two blocks",
}
# Words whose name in the source differs from their spelling.
SPELLINGS = {
    "scaled_n2_ue8m0": "scaled::n2::ue8m0",
    "sp_ordered_metadata": "sp::ordered_metadata",
    "wait_ld": "wait::ld",
    "wait_st": "wait::st",
    "x4x256b": "4x256b",
    "im2col_w": "im2col::w",
    "im2col_w_128": "im2col::w::128",
    "fence_after_thread_sync": "fence::after_thread_sync",
    "fence_before_thread_sync": "fence::before_thread_sync",
}
ROW = re.compile(r"\{opcode::(\w+),(?:[^{};]|\{[^{}]*\})*\}")
SINCE = re.compile(r"since\{(\d+), (\d+)\}")


def rows(table):
    """Return (name, words, version, target, exactness) of each row of the C++ source."""
    text = " ".join(table.partition("table[] = {")[2].partition("\n};")[0].split())
    return [row(match[0], match[1].rstrip("_")) for match in ROW.finditer(text)]


def row(text, name):
    """Read one row. A row names a form by a word, or applies to all other forms."""
    since = SINCE.search(text)
    version, target = map(int, since.groups()) if since else (10, 0)
    form = re.search(r"since\{[^{}]*\}, q::(\w+)", text)
    exactness = next((e for e in ("refused", "documented") if f"{e}}}" in text), "exact")
    return name, form[1].rstrip("_") if form else "", version, target, exactness


def name_of(opcode, form):
    return f"{opcode}.{SPELLINGS.get(form, form)}" if form else opcode


def refusals(table):
    """Return a list of the refused forms with their reasons."""
    names = [name_of(name, form) for name, form, *_, results in rows(table) if results == "refused"]
    return "\n".join(f"- ``{name}``: {REASONS[name]}." for name in names)


def page(table):
    """Return the page of a C++ source."""
    cells = [
        [
            f"``{name_of(name, form)}``",
            f"{version // 10}.{version % 10}",
            f"sm_{target}" if target else "any",
            exactness,
        ]
        for name, form, version, target, exactness in rows(table)
    ]
    head = underlined("PTX instructions of the emulator", "=")
    columns = ["instruction", "since PTX", "since target", "results"]
    return "\n".join([head, INTRODUCTION, list_table(columns, cells), "", refusals(table), ""])
