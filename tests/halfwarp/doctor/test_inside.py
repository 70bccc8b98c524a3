# SPDX-License-Identifier: Apache-2.0
"""What runs in the process of a probe: its failure is a finding, its answer the only output."""

import os
import types

from halfwarp.doctor import inside


def test_one_that_raises_is_a_finding(monkeypatch):
    broken = types.SimpleNamespace(probe=lambda findings: 1 / 0)
    monkeypatch.setattr(inside, "load", lambda name: broken)
    (problem,) = inside.run("python").problems
    assert problem["what"] == (
        "the examination of 'python' failed: ZeroDivisionError: division by zero"
    )


def test_what_a_library_prints_is_not_taken_for_the_answer(capfd, monkeypatch):
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
