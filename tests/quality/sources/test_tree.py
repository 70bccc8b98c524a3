# SPDX-License-Identifier: Apache-2.0
"""The README and `docs/design/architecture.md` name the folders and extensions that exist."""

import re

import pytest

from build_support.parts import LIBRARIES, PARTS


@pytest.fixture
def folders(tracked):
    """``folders(parent)``: the names of the folders in a folder, without hidden ones."""

    def names(parent):
        depth = len(parent.split("/")) if parent else 0
        inside = [p.parts for p in tracked if not parent or p.is_relative_to(parent)]
        return {p[depth] for p in inside if len(p) > depth + 1 and not p[depth].startswith(".")}

    return names


@pytest.fixture
def architecture(root):
    return (root / "docs" / "design" / "architecture.md").read_text()


def code(text):
    return set(re.findall(r"`([^`]+)`", text))


def test_the_readme_names_every_folder_of_the_first_levels(root, folders):
    tree = (root / "README.md").read_text().partition("## The tree")[2]
    named = {name.rstrip("/") for name in code(tree)}
    assert named >= folders("") - {"cpp", "cuda"}
    assert named >= {f"cpp/{name}" for name in folders("cpp")}
    assert named >= folders("cuda/core") | {f"cuda/{name}" for name in folders("cuda")}


def test_the_table_of_extensions_has_every_extension(architecture):
    table = architecture.partition("## Extensions")[2].partition("\n## ")[0]
    named = set()
    for cell in re.findall(r"^\| (`[^|]*) \|", table, re.M):
        first, *others = re.findall(r"`([^`]+)`", cell)
        named |= {first, *(first.rpartition(".")[0] + name for name in others)}
    files = {f"{name.replace('.', '/')}.so" for name in LIBRARIES}
    modules = {name for part in PARTS for name in (part.name, *part.modules.split())}
    assert named == modules - {*LIBRARIES} | files


def test_the_lists_of_layers_have_every_folder(architecture, folders):
    _, _, engine = architecture.partition("The folders of `cpp/bindings`, lowest first, are ")
    assert code(engine.partition(".\n")[0]) == folders("cpp/bindings")
    _, _, emulator = architecture.partition("The folders of `cpp/emulator`")
    assert code(emulator.split("\n\n")[1]) == folders("cpp/emulator")
