# SPDX-License-Identifier: Apache-2.0
"""Versions, the kind of our installation, and requirements that pip cannot verify."""

import json

import pytest

from halfwarp.doctor.probes import packages


def test_versions_and_the_kind_of_installation_are_stated(site, findings):
    site.install("nvidia-nvvm", "13.5.37")
    site.install("requests", "2.0")
    packages.probe(findings)
    facts = findings.facts
    assert (facts["cuda.bindings"], facts["cuda.core"]) == ("13.5.0", "1.2.2")
    assert facts["installed_as"] == "wheel"
    assert facts["related"] == {"cuda-pathfinder": "1.9.0", "nvidia-nvvm": "13.5.37"}
    assert not findings.problems
    assert not findings.warnings


def test_an_editable_installation_is_distinguished_from_a_source_tree(site, findings):
    info = "halfwarp-0.1.0.dist-info"
    (site.folder / f"{info}/RECORD").write_text("")
    packages.probe(findings)
    assert findings.facts["installed_as"] == "source tree"
    site.write(f"{info}/direct_url.json", json.dumps({"dir_info": {"editable": True}}))
    packages.probe(findings)
    assert findings.facts["installed_as"] == "editable"


def test_a_pathfinder_that_is_too_old_is_a_problem(site, findings):
    (site.folder / "cuda_pathfinder-1.9.0.dist-info/METADATA").unlink()
    site.install("cuda-pathfinder", "1.2.9")
    packages.probe(findings)
    (problem,) = findings.problems
    assert problem["what"] == "halfwarp needs cuda-pathfinder>=1.3, but 1.2.9 is installed"


def test_a_requirement_that_a_stand_in_would_meet_is_reported(site, findings):
    site.install("numba-cuda", "0.30.0", requires=["cuda-bindings<14,>=12.9", "numpy"])
    site.install("other", "1", requires=['cuda-core; extra == "gpu"', "cuda_python>=13"])
    packages.probe(findings)
    distributions = [each["what"].partition(",")[0] for each in findings.warnings]
    assert distributions == ["numba-cuda requires cuda-bindings", "other requires cuda-python"]
    assert all("shims" in each["remedy"] for each in findings.warnings)


@pytest.mark.parametrize("name", ["cuda-bindings", "cuda_bindings"])
def test_the_stand_in_meets_the_requirement(site, findings, name):
    site.install("numba-cuda", "0.30.0", requires=["cuda-bindings<14,>=12.9"])
    site.install(name, "13.5.0+halfwarp", requires=["halfwarp"])
    packages.probe(findings)
    assert not findings.warnings
