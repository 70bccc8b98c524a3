# SPDX-License-Identifier: Apache-2.0
"""Pages that are written when the documentation is built, from what they are about.

Nothing of them is kept: the reference comes from the package, the gallery from the examples and
what they print, the tables of codes from the texts of the exceptions, figures from the README.
"""

from pathlib import Path

from . import codes, core_reference, gallery, measured, release_notes

ROOT = Path(__file__).resolve().parents[2]


def pages():
    """Path below ``docs/generated`` -> text."""
    return {
        **{f"core/{name}": text for name, text in core_reference.pages().items()},
        **{f"examples/{name}": text for name, text in gallery.pages(ROOT / "examples").items()},
        "codes.rst": codes.page(),
        "measured.rst": measured.measured((ROOT / "README.md").read_text()),
        "budget.rst": measured.budget((ROOT / "benchmarks" / "budget.toml").read_text()),
        "growth.rst": measured.growth((ROOT / "benchmarks" / "growth.json").read_text()),
        "changes.rst": release_notes.page((ROOT / "CHANGELOG.md").read_text()),
    }
