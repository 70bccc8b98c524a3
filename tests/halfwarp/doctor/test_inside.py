# SPDX-License-Identifier: Apache-2.0
"""Code in the process of a probe: its failure is a finding, its result the only output."""

import os
import types

from halfwarp.doctor import inside


def test_a_raising_probe_is_a_finding(monkeypatch):
    broken = types.SimpleNamespace(probe=lambda findings: 1 / 0)
    monkeypatch.setattr(inside, "load", lambda name: broken)
    (problem,) = inside.run("python").problems
    assert problem["what"] == (
        "the examination of 'python' failed: ZeroDivisionError: division by zero"
    )


def test_output_of_a_library_is_not_mistaken_for_the_result(capfd, monkeypatch):
    def probe(findings):
        os.write(1, b"hello from C\n")
        findings.facts["x"] = 1

    monkeypatch.setattr(inside, "load", lambda name: types.SimpleNamespace(probe=probe))
    saved = os.dup(1)
    try:
        inside.answer("python")
    finally:
        os.dup2(saved, 1)
        os.close(saved)
    written = capfd.readouterr()
    assert written.out == '{"facts": {"x": 1}, "problems": [], "warnings": []}'
    assert "hello from C" in written.err
