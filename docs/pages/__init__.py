# SPDX-License-Identifier: Apache-2.0
"""Pages that the documentation build generates from their sources.

They are not committed. The reference comes from the package, the gallery from the examples and
their output, the tables of codes from the exceptions' texts, and figures from the README.
"""

from pathlib import Path

from . import (
    codes,
    core_reference,
    counters,
    design_notes,
    gallery,
    instructions,
    measured,
    release_notes,
)

ROOT = Path(__file__).resolve().parents[2]
INSTRUCTIONS = "cpp/emulator/ptx/instruction_table.cpp"


def results(name):
    """Return the benchmarks' results on the null driver, then on a GPU."""
    return [(ROOT / "benchmarks" / f"{name}{kind}.json").read_text() for kind in ("", "_gpu")]


def pages():
    """Return path below ``docs/generated``: text."""
    return {
        **{f"core/{name}": text for name, text in core_reference.pages().items()},
        **{f"examples/{name}": text for name, text in gallery.pages(ROOT / "examples").items()},
        **{f"design/{n}": text for n, text in design_notes.pages(ROOT / "docs/design").items()},
        "codes.rst": codes.page(),
        "counters.rst": counters.definitions(),
        "counters_measured.rst": counters.measured(
            (ROOT / "tests" / "data" / "ncu_counters.json").read_text()
        ),
        "instructions.rst": instructions.page((ROOT / INSTRUCTIONS).read_text()),
        "measured.rst": measured.measured((ROOT / "README.md").read_text()),
        "budget.rst": measured.budget((ROOT / "benchmarks" / "budget.toml").read_text()),
        "rows.rst": "\n".join(measured.rows(text) for text in results("rows")),
        "growth.rst": "\n".join(measured.growth(text) for text in results("growth")),
        "changes.rst": release_notes.page((ROOT / "CHANGELOG.md").read_text()),
    }
