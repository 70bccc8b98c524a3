# SPDX-License-Identifier: Apache-2.0
"""Overrides: every decision has a reason, and applies to something that exists."""

import re
import tomllib

import pytest

from generator import api_file, decisions
from generator.decisions import tables
from generator.kinds import VALUES
from generator.libraries import HERE, library_names, load


@pytest.fixture(params=library_names())
def name(request):
    return request.param


@pytest.fixture
def data(name):
    return tomllib.loads((HERE / "overrides" / f"{name}.toml").read_text())


@pytest.fixture
def functions(name):
    return {f.name for f in api_file.read(HERE / "api" / f"{name}.api").functions}


def test_every_decision_has_a_reason(data):
    apart = ("library", "functions", "reasons", "fields", "joint_lists")
    without = [t for t in data if t not in apart and not data[t].get("reason")]
    without += [n for n, table in data.get("joint_lists", {}).items() if not table.get("reason")]
    without += [
        f"{struct}.{field}"
        for struct, fields in data.get("fields", {}).items()
        for field, table in fields.items()
        if not table.get("reason")
    ]
    assert without == []


def test_a_table_of_another_name_is_refused(tmp_path, toy_folder):
    text = (toy_folder / "toy.toml").read_text() + '\n[keep_gil]\nreason = "Misspelt."\n'
    (tmp_path / "toy.toml").write_text(text)
    with pytest.raises(ValueError, match=r"toy\.toml: no such table: keep_gil"):
        decisions.read(tmp_path / "toy.toml")


TOY = """
[library]
name = "toy"
headers = ["toy.h"]
result_enum = "toyResult"
success = "TOY_SUCCESS"
not_found = "TOY_MISSING"

[reasons]
hot = "Called often."

[functions]
toyOpen = { hot = true }
"""
REFUSED = {
    'toyRun = { keep_gil = true, reason = "R" }': "toyRun: there is no property keep_gil",
    "toyRun = {}": "toyRun: the entry says nothing; remove it, or add a property",
    'toyRun = { reason = "R" }': "toyRun: the entry says nothing; remove it, or add a property",
    "toyRun = { hot = false }": "toyRun: hot has its default value; remove it",
    'toyRun = { gil = "release" }': "toyRun: gil has its default value; remove it",
    "toyRun = { cimport_only = true }": (
        "toyRun: cimport_only has no reason, neither here nor in [reasons]"
    ),
    'toyRun = { gil = "kept", reason = "R" }': "toyRun: gil is 'kept', not one of release, keep",
    'toyRun = { gil = "keep", waits = true, reason = "R" }': (
        "toyRun: it waits, so it must release the GIL: another thread may need the GIL to go on"
    ),
}


def read_text(tmp_path, text):
    (tmp_path / "toy.toml").write_text(text)
    return decisions.read(tmp_path / "toy.toml")


def test_entries_share_a_reason_or_have_their_own(tmp_path):
    own = 'toyRun = { hot = true, gil = "keep", reason = "Returns at once." }\n'
    functions = read_text(tmp_path, TOY + own).functions
    assert functions["toyOpen"].hot and functions["toyOpen"].gil == "release"
    assert functions["toyRun"].hot and functions["toyRun"].gil == "keep"


@pytest.mark.parametrize("entry", REFUSED)
def test_an_entry_is_refused_with_its_problem(tmp_path, entry):
    with pytest.raises(ValueError, match=re.escape(f"toy.toml: [functions] {REFUSED[entry]}")):
        read_text(tmp_path, TOY + entry)


def test_a_reason_without_an_entry_is_refused(tmp_path):
    text = TOY.replace("[functions]", 'gil = "Returns at once."\n\n[functions]')
    with pytest.raises(ValueError, match=r"toy\.toml: \[reasons\]: no function has gil"):
        read_text(tmp_path, text)


def test_entries_of_one_line_are_sorted_by_name(name):
    path = HERE / "overrides" / f"{name}.toml"
    entries = re.findall(r"^(\w+) = \{", path.read_text(), re.MULTILINE)
    listed = [n for n in entries if n in decisions.read(path).functions]
    assert listed == sorted(listed)


@pytest.mark.parametrize("table", ["hot", "brief", "lookups", "releases", "submits", "calls_back"])
def test_a_pattern_of_functions_matches_some(data, functions, table):
    if "pattern" in data.get(table, {}):
        assert any(re.fullmatch(tables.pattern(data[table]), f) for f in functions)


def test_every_field_of_a_decision_exists(data, name):
    structs = {s.name: {f.name for f in s.fields} for s in load(name).structs}
    for struct, fields in data.get("fields", {}).items():
        assert fields.keys() <= structs[struct]
    for struct, table in data.get("joint_lists", {}).items():
        assert {*table["lists"], table["count"]} <= structs[struct]


def test_every_attribute_exists_and_its_type_is_known(data, name):
    library = load(name)
    enums = {e.name: {m.name for m in e.members} for e in library.enums}
    elements = {
        "plain": VALUES.keys(),
        "enum": set(enums),
        "handle": {h.name for h in library.handles},
        "struct": {s.name for s in library.structs},
        "data": {t.name for t in library.numpy_structs},
    }
    for used, other in library.uses.items():
        elements["handle"] |= {f"{used}.{h.name}" for h in other.handles}
        elements["struct"] |= {f"{used}.{s.name}" for s in other.structs}
    for enum, members in library.attributes.items():
        assert members.keys() <= enums[enum]
        for kind in members.values():
            assert kind.element in elements[kind.shape], kind


def test_every_result_code_is_explained_in_a_sentence(name):
    library = load(name)
    results = next(e for e in library.enums if e.name == library.result_class)
    if library.raises and not any(m.doc for m in results.members):
        pytest.skip("the library itself explains its codes")
    for member in results.members:
        assert member.doc.endswith("."), member.name
        assert member.doc[0].isupper(), member.name
        assert "  " not in member.doc and "\n" not in member.doc, member.name


def test_explanations_name_codes_that_exist(data, name):
    library = load(name)
    c_name = "c_name" if library.raises else "name"  # the class may have another name
    enums = {getattr(e, c_name): {m.c_name for m in e.members} for e in library.enums}
    for enum, members in data.get("docs", {}).items():
        if enum == "reason":
            continue
        missing = enums[enum] - members.keys()
        assert members.keys() - {"like"} <= enums[enum]
        assert not missing or "like" in members


def test_functions_that_call_back_or_submit_release_the_gil(name):
    """A held GIL would deadlock or stall every other thread."""
    risky = (
        "Launch",
        "Synchronize",
        "Alloc",
        "Memcpy",
        "Memset",
        "Load",
        "Callback",
        "Wait",
        "(?<!nvJit)Link(?!ed)",
    )
    holding = [f.name for f in load(name).functions if not f.releases_gil]
    assert [n for n in holding if any(re.search(word, n) for word in risky)] == []


def test_submissions_do_not_call_back_and_release_the_lock(name):
    submitting = [f for f in load(name).functions if f.is_submission]
    assert all(f.releases_gil and not f.calls_back for f in submitting)


def test_functions_with_a_callback_are_known(name):
    taken = re.compile("(Add|Launch)Host|Callback|UserObjectCreate|RegisterAsync")
    functions_ = [f for f in load(name).functions if taken.search(f.name)]
    unknown = re.compile("Unregister|Deregister|GetCallback|nvrtc|Flow")
    assert [f.name for f in functions_ if not f.calls_back and not unknown.search(f.name)] == []


def test_brief_functions_neither_wait_nor_call_back(name):
    risky = re.compile("Wait|Callback|Synchronize|Register|Create|Init|Launch")
    assert [f.name for f in load(name).functions if f.is_brief and risky.search(f.name)] == []
