# SPDX-License-Identifier: Apache-2.0
"""The generated pages have every name, option, code, example and figure."""

import dataclasses
import enum
import functools
import inspect
import json
import re
import tempfile
import tomllib
import zlib
from importlib import import_module
from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmarks import growth, pictures
from docs import publish
from docs.pages import (
    codes,
    core_reference,
    design_notes,
    gallery,
    instructions,
    measured,
    members,
    nvml_errors,
    release_notes,
)

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def reference():
    return core_reference.pages()


@pytest.fixture(scope="module")
def text(reference):
    return "\n".join(reference.values())


def public_things():
    """Return (full name, object) of what users import from `cuda.core` and the modules below it."""
    for module in core_reference.MODULES:
        imported = import_module(f"cuda.core.{module}".rstrip("."))
        for name in imported.__all__:
            thing = getattr(imported, name)
            if not inspect.ismodule(thing):
                yield f"{imported.__name__}.{name}", thing


def test_every_module_below_the_package_has_a_page(reference):
    below = {n for n in import_module("cuda.core").__all__ if n in core_reference.TITLES}
    modules = import_module("cuda.core").__all__
    of_modules = {n for n in modules if inspect.ismodule(getattr(import_module("cuda.core"), n))}
    assert of_modules == below
    assert {f"{name}.rst" for name in core_reference.TITLES} <= set(reference)


def test_every_public_name_is_listed_once(text):
    placed = re.findall(r"^\.\. auto\w+:: (\S+)$", text, re.M)
    assert len(placed) == len(set(placed))
    assert [name for name, _ in public_things() if name not in placed] == []


def test_every_method_and_property_of_a_class_is_listed(text):
    missing = []
    for name, thing in public_things():
        if not isinstance(thing, type) or issubclass(thing, BaseException):
            continue
        for member in filter(lambda n: members.is_public_member(thing, n), dir(thing)):
            owner, _, member_name = NAMES.members[f"{name}.{member}"].rpartition(".")
            if member_name not in words_of(text, owner):
                missing.append(f"{name}.{member}")
            elif owner != name and f":class:`{owner}`" not in section_of(text, name):
                missing.append(f"{name}: no link to {owner}")
    assert missing == []


NAMES = core_reference.names()


def section_of(text, name):
    """Return what follows the directive of a class."""
    pattern = rf"^\.\. autoclass:: {re.escape(name)}$(.*?)(?=^\.\. auto|\Z)"
    return re.search(pattern, text, re.M | re.S)[1]


@functools.cache
def words_of(text, name):
    return set(re.findall(r"\w+", section_of(text, name)))


def test_members_that_classes_share_are_described_once(reference):
    assert NAMES.members["cuda.core.graph.MemsetNode.pred"] == "cuda.core.graph.GraphNode.pred"
    assert reference["graph_nodes.rst"].count(" pred,") == 1


def test_each_page_of_the_reference_links_to_the_guide(reference):
    for name, text in reference.items():
        if name != "index.rst":
            links = re.findall(r":doc:`/guide/(\w+)`", text.split("\n")[3])
            assert links, name
            assert [link for link in links if not (ROOT / f"docs/guide/{link}.rst").exists()] == []


def test_code_names_of_the_guide_are_names_of_the_reference():
    """The build turns them into links; a member that a class lacks is an error of the page."""
    pages = [ROOT / "docs/index.rst", *(ROOT / "docs/guide").glob("*.rst")]
    literals = [(p.name, text) for p in pages for text in re.findall(r"``([^`]+)``", p.read_text())]
    assert [each for each in literals if NAMES.is_missing(each[1])] == []
    assert sum(NAMES.find(text) is not None for _, text in literals) > 250


def test_code_names_are_found_in_their_usual_forms():
    places = {
        "Buffer": "cuda.core.Buffer",
        "Buffer.copy_to": "cuda.core.Buffer.copy_to",
        "ManagedBuffer.fill": "cuda.core.Buffer.fill",
        "stream.sync()": "cuda.core.Stream.sync",
        "launch(stream, config, kernel, *args)": "cuda.core.launch",
        "peer_accessible_by": "cuda.core.DeviceMemoryResource.peer_accessible_by",
        "x + 1": None,
        "code": None,
    }
    assert {text: NAMES.find(text) for text in places} == places
    assert NAMES.is_missing("Buffer.copy_into()")
    assert not NAMES.is_missing("Buffer.copy_to()") and not NAMES.is_missing("np.zeros(3)")


def test_every_field_of_an_options_class_is_listed_with_its_default(text):
    from cuda.core import ProgramOptions

    section = text.partition(".. autoclass:: cuda.core.ProgramOptions\n")[2]
    for field in dataclasses.fields(ProgramOptions):
        row = re.search(rf"^   \* - ``{field.name}``\n     - (``.+``)\n     - (.*)$", section, re.M)
        assert row, field.name
    assert "   * - ``name``\n     - ``str | None``\n     - ``'default_program'``" in section


def test_public_objects_have_docstrings():
    described = [(n, t) for n, t in public_things() if isinstance(t, type) or inspect.isroutine(t)]
    assert described
    assert [name for name, thing in described if not inspect.getdoc(thing)] == []


PLACEHOLDERS = {"self", "cls", "type", "args", "kwargs", "removed", "old"}


def parameters_of(thing):
    try:
        names = set(inspect.signature(thing).parameters)
    except (ValueError, TypeError):  # a compiled class without a signature
        return set()
    return names - PLACEHOLDERS


def described(thing, owner):
    """Return the words of a docstring, and of the one whose parameters it shares."""
    text = " ".join((inspect.getdoc(thing) or "").split())
    shared = r"(?:Deprecated(?: spelling of|:(?: use)?)|parameters of|alias of) `(\w+)`"
    other = re.search(shared, text)
    if other and owner is not None:
        text += inspect.getdoc(getattr(owner, other[1])) or ""
    return set(re.findall(r"\w+", text))


def callables():
    """Return (name, function, class or None) of all callables for users except exceptions."""
    for name, thing in public_things():
        if not isinstance(thing, type):
            if callable(thing):
                yield name, thing, None
        elif not issubclass(thing, (BaseException, enum.Enum)):
            yield name, thing, None
            for member in filter(lambda n: members.is_public_member(thing, n), dir(thing)):
                attribute = getattr(thing, member)
                if callable(attribute) and not isinstance(attribute, type):
                    yield f"{name}.{member}", attribute, thing


def test_every_parameter_is_described():
    missing = {
        name: sorted(absent)
        for name, thing, owner in callables()
        if (absent := parameters_of(thing) - described(thing, owner))
        and not isinstance(getattr(thing, "__self__", None), enum.EnumMeta)
    }
    assert missing == {}, missing


def test_every_code_is_listed_with_a_remedy():
    from cuda.bindings import driver, nvjitlink, nvrtc, runtime

    page = codes.page()
    for codes_of in (driver.CUresult, nvrtc.nvrtcResult, runtime.cudaError_t, nvjitlink.Result):
        assert [n for n in codes_of.__members__ if f"``{n}``" not in page] == []
    assert driver.CUresult.CUDA_ERROR_OUT_OF_MEMORY.__doc__.split(".")[0] in page


def test_every_exception_of_nvml_is_listed_with_a_remedy():
    from cuda.bindings import nvml
    from cuda.core import system

    raised = {
        name
        for module in (nvml, system)
        for name in dir(module)
        if isinstance(getattr(module, name), type)
        and issubclass(getattr(module, name), nvml.NvmlError)
    }
    for other, name in nvml_errors.SAME.items():
        assert getattr(nvml, other) is getattr(nvml, name)
    assert raised - set(nvml_errors.SAME) == set(nvml_errors.MEANINGS)
    assert all(f"``{name}``" in codes.page() for name in raised)


def test_an_example_has_a_page_with_its_output():
    path = ROOT / "examples" / "vector_add.py"
    page = gallery.page(path, ROOT / "examples", gallery.output(path))
    assert page.startswith("Instantiates one kernel template for several element types\n====")
    assert "   add<float>: " in page and "correct" in page
    assert ".. literalinclude:: /../examples/vector_add.py" in page


def test_the_picture_of_an_example_is_on_its_page(tmp_path):
    picture = tmp_path / "made" / "drawn.svg"
    picture.parent.mkdir()
    for shown in (picture, picture.parent):
        text = f"from pathlib import Path\nPath({str(picture)!r}).write_text('<svg/>')\n"
        text = f'"""Title.\n\nText."""\n{text}print("in", {str(shown)!r})\n'
        (tmp_path / "draws.py").write_text(text)
        pages = gallery.pages(tmp_path)
        assert pages["draws.svg"] == "<svg/>"
        assert ".. image:: draws.svg\n" in pages["draws.rst"]
    assert gallery.picture_in("") is gallery.picture_in("12 numbers, correct") is None


def test_an_unsupported_picture_format_is_converted():
    pixels = bytes(range(18))  # 9 to 13 and 32 are spaces
    png = gallery.png(b"P6\n3 2\n255\n" + pixels)
    assert png.startswith(b"\x89PNG\r\n\x1a\n") and png.endswith(b"IEND\xaeB`\x82")
    assert png[16:24] == (3).to_bytes(4, "big") + (2).to_bytes(4, "big")
    at = png.index(b"IDAT")
    length = int.from_bytes(png[at - 4 : at], "big")
    lines = zlib.decompress(png[at + 4 : at + 4 + length])
    assert lines == b"\0" + pixels[:9] + b"\0" + pixels[9:]


def test_a_bare_name_means_a_member_of_the_described_class_alone():
    split, copy = "cuda.core.graph.GraphBuilder.split", "cuda.core.DeviceMemoryResource.allocate"
    base = "cuda.core.MemoryResource.allocate"
    assert members.is_named_by_chance(split, "cuda.core._core.LaunchRecord.count", "property")
    assert not members.is_named_by_chance(split, "cuda.core.graph.GraphBuilder.join", "method")
    assert not members.is_named_by_chance(copy, base, "method")
    assert not members.is_named_by_chance(split, "cuda.core.launch", "function")
    assert members.is_named_by_chance(split, "cuda.core.system.MemoryError", "exception")
    assert members.Names(["cuda.core.system.MemoryError"]).find("MemoryError") is None


def test_a_failing_example_ends_the_build(tmp_path):
    (tmp_path / "fails.py").write_text('"""Title.\n\nText."""\nraise SystemExit(3)\n')
    with pytest.raises(RuntimeError, match=r"fails\.py"):
        gallery.pages(tmp_path)


def test_every_example_has_a_page(monkeypatch):
    monkeypatch.setattr(gallery, "output", lambda path: "")
    pages = gallery.pages(ROOT / "examples")
    assert set(pages) == {f"{p.stem}.rst" for p in (ROOT / "examples").rglob("*.py")} | {
        "index.rst"
    }
    assert all(name == "index.rst" or f"   {name[:-4]}\n" in pages["index.rst"] for name in pages)
    assert len(pages) > 20


def test_the_gallery_begins_with_saxpy_and_groups_every_example(monkeypatch):
    monkeypatch.setattr(gallery, "output", lambda path: "")
    names = {path.stem for path in (ROOT / "examples").rglob("*.py")}
    groups = gallery.grouped(names)
    assert groups["Others"] == []
    assert sorted(name for group in groups.values() for name in group) == sorted(names)
    cards = re.findall(r":doc:`.* <(\w+)>`", gallery.pages(ROOT / "examples")["index.rst"])
    assert cards[0] == "saxpy" and len(cards) == len(names)
    text = gallery.index_of({"saxpy": "SAXPY"}, {"saxpy": "saxpy.svg"})
    assert ".. image:: saxpy.svg" in text and ":target: saxpy.html" in text


def test_the_card_of_an_example_shows_its_output(monkeypatch):
    printed = "size   <8>\n" + "\n".join(f"  line {n} {'x' * 60}" for n in range(20))
    monkeypatch.setattr(gallery, "output", lambda path: printed)
    pages = gallery.pages(ROOT / "examples")
    assert ".. image:: saxpy.svg" in pages["index.rst"]
    assert ".. image::" not in pages["saxpy.rst"]  # the page has the output itself
    picture = ElementTree.fromstring(pages["saxpy.svg"])
    texts = picture.findall(".//{*}text")
    shown = [text.text.replace("\xa0", " ") for text in texts]
    assert shown[:2] == ["size   <8>", f"line 0 {'x' * 34}..."]
    assert len(texts) == gallery.ROWS and texts[-1].text == "..."
    for text in texts:
        end = int(text.get("x")) + int(text.get("textLength"))
        assert end <= int(picture.get("width")) - gallery.MARGIN
        assert int(text.get("y")) <= int(picture.get("height")) - gallery.MARGIN


def test_random_names_of_temporary_files_are_masked():
    printed = f"in {tempfile.gettempdir()}/halfwarp-joe8somq/occupancy.svg"
    assert gallery.without_random_names(printed) == "in /tmp/halfwarp/occupancy.svg"


def test_the_figures_equal_the_readme():
    readme = (ROOT / "README.md").read_text()
    page = measured.measured(readme)
    rows = re.findall(r"^\| `(.*?)` \| (\d+) \| (\d+) \|", readme, re.M)
    assert len(rows) > 10
    for row, theirs, ours in rows:
        assert f"   * - ``{row}``\n     - {theirs}\n     - {ours}\n" in page
    assert "python -m benchmarks" in page and "|" not in page


def test_the_budget_equals_the_benchmarks():
    text = (ROOT / "benchmarks" / "budget.toml").read_text()
    page = measured.budget(text)
    for row, part in tomllib.loads(text)["ratios"].items():
        assert f"   * - ``{row}``\n     - {part}\n" in page


@pytest.mark.parametrize("name", ["growth", "growth_gpu"])
def test_the_figures_of_growth_equal_the_measurements(name):
    text = (ROOT / "benchmarks" / f"{name}.json").read_text()
    page, measurements = measured.growth(text), json.loads(text)
    assert measurements["run"]["date"] in page and measurements["run"]["machine"] in page
    assert {sweep["sweep"] for sweep in measurements["sweeps"]} == set(growth.sweeps())
    for sweep in measurements["sweeps"]:
        for point in sweep["points"]:
            cells = [f"{point['at']:,} {sweep['x']}", f"{point['theirs']:,}", f"{point['ours']:,}"]
            assert "     - " + "\n     - ".join(cells) in page
    assert page.count("<svg ") == sum(
        "memory" not in sweep["sweep"] for sweep in measurements["sweeps"]
    )


@pytest.mark.parametrize("name", ["rows", "rows_gpu"])
def test_every_row_of_the_benchmarks_is_listed(name):
    """The page also names the measured packages, the command, the machine and the date."""
    from benchmarks.__main__ import rows

    text = (ROOT / "benchmarks" / f"{name}.json").read_text()
    page, measurements = measured.rows(text), json.loads(text)
    run, records = measurements["run"], {r["row"]: r for r in measurements["rows"]}
    assert {run["date"], run["machine"], measurements["command"]} - {""} and measurements[
        "command"
    ] in page
    assert all(said in page for said in (run["date"], run["machine"], *run["reference"]))
    assert ("gpu" in name) == bool(run["gpu"] and run["gpu"] in page)
    here = {n for n, row in rows().items() if run["backend"] in row.backends}
    assert here == set(records)
    for row, record in records.items():
        assert f"   * - ``{row}``\n     - " in page
        assert isinstance(record["ours"], float), record
        assert f"halfwarp: {record['ours']:,.0f} ns" in page
    contestants = {
        w for w in pictures.WHO if any(isinstance(r.get(w), float) for r in records.values())
    }
    assert contestants == {"theirs", "ours", "floor", "numba"} | ({"cupy"} if run["gpu"] else set())


def test_design_notes_are_converted_to_pages():
    page = design_notes.page(
        "# Notes\n\nText `a`:\n- one\n  more:\n  - inner\n- two\n\n"
        "| x | y |\n| --- | --- |\n| `a | b` | 1 |\n\n```\ncode = `x`\n```\nEnd.\n"
    )
    items = "- one\n  more:\n\n  - inner\n\n- two\n\n"
    assert page.startswith(f"\nNotes\n=====\n\nText ``a``:\n\n{items}")
    assert ".. code-block:: text\n\n   code = `x`\n\nEnd.\n" in page
    assert "   * - x\n     - y\n\n   * - ``a | b``\n     - 1\n" in page
    pages = design_notes.pages(ROOT / "docs" / "design")
    assert set(pages) == {f"{p.stem}.rst" for p in (ROOT / "docs/design").glob("*.md")} | {
        "index.rst"
    }


def test_versions_of_the_pages_coexist(tmp_path):
    for version in ("0.9.0", "0.10.0", "0.10.0rc1"):
        built = tmp_path / "built"
        built.mkdir(exist_ok=True)
        (built / "index.html").write_text(f'<select data-version="{version}"></select>')
        (built / "objects.inv").write_text("")
        versions = publish.publish(built, tmp_path / "site")
    assert versions == ["0.10.0", "0.10.0rc1", "0.9.0"]
    site = tmp_path / "site"
    assert (site / "0.9.0" / "index.html").exists()
    assert "url=0.10.0/" in (site / "index.html").read_text()
    assert "url=../0.10.0/" in (site / "stable" / "index.html").read_text()
    assert '["0.10.0", "0.10.0rc1", "0.9.0"]' in (site / "versions.js").read_text()


def test_the_release_notes_equal_the_changelog():
    link = "[docs/guide/support.rst](docs/guide/support.rst)"
    page = release_notes.page(f"# Changes\n\nSee {link}.\n\n## 1.0\n\n- `a`\n")
    assert page == (
        "Release notes\n=============\n\n\nSee :doc:`/guide/support`.\n\n1.0\n---\n\n\n- ``a``\n"
    )


def test_the_install_page_lists_each_extra():
    text = (ROOT / "docs" / "guide" / "install.rst").read_text()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    table = re.findall(r"^``(\w+)``  ", text, re.M)
    assert sorted(table) == sorted(project["optional-dependencies"])
    extras = {e for each in re.findall(r"\.\[([\w,]+)\]", text) for e in each.split(",")}
    assert extras and extras <= set(table)


def test_commands_of_the_guide_exist():
    from halfwarp.command_line import COMMANDS

    for path in (ROOT / "docs" / "guide").glob("*.rst"):
        named = set(
            re.findall(r"^   (?:HALFWARP_\w+=\w+ )?halfwarp ([a-z]+)", path.read_text(), re.M)
        )
        assert named <= set(COMMANDS), path


def test_every_page_of_the_guide_is_in_a_toctree():
    index = (ROOT / "docs" / "index.rst").read_text()
    listed = re.findall(r"^   guide/(\w+)$", index, re.M)
    names = [path.stem for path in (ROOT / "docs" / "guide").glob("*.rst")]
    assert sorted(listed) == sorted(names)


class TestInstructions:
    """The page of PTX instructions has a row for every opcode of the vocabulary."""

    def rows(self):
        return instructions.rows((ROOT / "cpp/emulator/ptx/instruction_table.cpp").read_text())

    def test_every_opcode_has_a_row(self):
        vocabulary = (ROOT / "cpp/emulator/ptx/vocabulary/opcode.hpp").read_text()
        opcodes = re.findall(r"^  (\w+),", vocabulary, re.M)
        assert {name.rstrip("_") for name in opcodes} - {"unknown"} == {r[0] for r in self.rows()}

    def test_every_refused_row_has_a_reason(self):
        refused = {instructions.name_of(*row[:2]) for row in self.rows() if row[-1] == "refused"}
        assert refused == set(instructions.REASONS)

    @pytest.mark.parametrize(
        "row",
        [
            ("dp4a", "", 50, 61, "exact"),
            ("mbarrier", "try_wait", 78, 90, "exact"),
            ("multimem", "red", 81, 90, "refused"),
            ("mma", "", 64, 70, "documented"),
            ("abs", "", 10, 0, "exact"),
        ],
    )
    def test_a_row_has_its_facts(self, row):
        assert row in self.rows()
