# SPDX-License-Identifier: Apache-2.0
"""Extraction of facts from headers."""

import dataclasses

import pytest

pytest.importorskip("clang.cindex", reason="extraction needs libclang (extra `dev`)")

from build_support import headers
from generator import api_file, extract
from generator.__main__ import HERE
from generator.decisions import read


def test_a_header_with_every_feature_gives_the_golden_facts(toy_folder, toy_decisions, golden):
    facts = extract.extract(toy_decisions, [toy_folder])
    golden("toy.api", api_file.write(facts))


def test_extracting_twice_gives_the_same_text(toy_folder, toy_decisions):
    texts = {api_file.write(extract.extract(toy_decisions, [toy_folder])) for _ in range(2)}
    assert len(texts) == 1


def test_a_missing_header_is_named(toy_decisions, tmp_path):
    with pytest.raises(SystemExit, match=r"toy: the headers do not parse[\s\S]*window\.h"):
        extract.extract(toy_decisions, [tmp_path])


def test_a_function_without_a_release_has_none(toy_folder, toy_decisions):
    decisions = dataclasses.replace(toy_decisions, typedef_headers=[])
    facts = extract.extract(decisions, [toy_folder])
    assert {f.since for f in facts.functions} == {""}


@pytest.mark.parametrize("library", ["driver", "nvrtc", "runtime"])
def test_the_committed_facts_equal_the_headers(library):
    version = api_file.read(HERE / "api" / "driver.api").version
    folder = headers.find(version)
    if folder is None:
        pytest.skip(f"no CUDA {version} headers here")
    facts = extract.extract(read(HERE / "overrides" / f"{library}.toml"), [folder])
    assert api_file.write(facts) == (HERE / "api" / f"{library}.api").read_text()
