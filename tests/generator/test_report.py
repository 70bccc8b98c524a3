# SPDX-License-Identifier: Apache-2.0
"""The committed report, and the changes of a header bump."""

import copy

from generator import api_file, report
from generator.facts import FactEnum
from generator.libraries import HERE, load_all


def test_the_committed_report_is_current():
    text = report.write(load_all())
    assert (HERE / "report.md").read_text() == text


def test_the_report_counts_the_declarations_of_the_library(toy):
    text = report.section(toy)
    for row in (
        "| C functions | 10 |",
        "| - for cimport only | 1 |",
        "| enums | 4 |",
        "| - explained members | 1 |",
        "| handle classes | 4 |",
        "| - anonymous | 2 |",
        "| constants | 3 |",
        "| roles corrected by hand | toyQueue |",
        "| keeps the GIL | toyErrorText |",
        "| 2.5 | toyQueue |",
        "| toyProperty | none |",
    ):
        assert row in text


def test_the_counts_of_the_committed_facts():
    """A changed number is a header bump or an accident: check which."""
    counts = {
        n: (len(lib.functions), len(lib.enums), len(lib.structs), len(lib.constants))
        for n, lib in load_all().items()
    }
    assert counts == {
        "cudla": (13, 9, 0, 0),
        "cufile": (45, 13, 0, 16),
        "driver": (526, 131, 294, 74),
        "nvfatbin": (12, 1, 0, 0),
        "nvjitlink": (16, 2, 0, 0),
        "nvml": (378, 120, 0, 759),
        "nvrtc": (29, 1, 1, 3),
        "nvvm": (14, 1, 0, 0),
        "runtime": (344, 95, 121, 93),
        "v2_driver": (527, 148, 0, 74),
        "v2_nvrtc": (29, 2, 0, 3),
        "v2_runtime": (344, 95, 0, 93),
    }


def test_a_bump_is_reported_declaration_by_declaration(toy_folder, toy_facts):
    old = toy_folder / "golden" / "toy.api.golden"
    new = copy.deepcopy(toy_facts)
    new.functions = [f for f in new.functions if f.name != "toyShow"]
    next(f for f in new.functions if f.name == "toyOpen").since = "3.0"
    next(t for t in new.types if isinstance(t, FactEnum)).members.append(("TOY_NEW", 9))
    assert report.changes(old, new).splitlines() == [
        "+ toyError_enum.TOY_NEW = 9",
        "- fn toyShow(toyWindow window, int (*)(void *) filter) -> toyResult  toy.h",
        "- fn toyOpen = toyOpen_v2(toyBox *box: out, const char *title, unsigned int flags)"
        " -> toyResult  toy.h  since 2.3",
        "+ fn toyOpen = toyOpen_v2(toyBox *box: out, const char *title, unsigned int flags)"
        " -> toyResult  toy.h  since 3.0",
    ]


def test_equal_facts_are_no_change(toy_folder):
    path = toy_folder / "golden" / "toy.api.golden"
    assert report.changes(path, api_file.read(path)) == ""


def test_a_new_library_has_no_previous_version(tmp_path, toy_facts):
    assert report.changes(tmp_path / "none.api", toy_facts) == ""
