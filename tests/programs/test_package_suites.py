# SPDX-License-Identifier: Apache-2.0
"""The script that runs suites of packages names tests as pytest does, and judges them by a list."""

import tomllib

from tests.programs import package_suites

REPORT = """
<testsuites><testsuite>
<testcase classname="tests.folder.test_sums.Sums" name="test_a[x.y]"/>
<testcase classname="folder.test_sums" name="test_b"><failure/></testcase>
<testcase classname="folder.test_sums" name="test_c"><skipped/></testcase>
</testsuite></testsuites>
"""


def test_outcomes_have_the_names_of_pytest(tmp_path):
    report = tmp_path / "report.xml"
    report.write_text(REPORT)
    assert package_suites.read_report(report, "folder/test_sums.py") == {
        "folder/test_sums.py::Sums::test_a[x.y]": "passed",
        "folder/test_sums.py::test_b": "failed",
        "folder/test_sums.py::test_c": "skipped",
    }


def test_a_process_without_a_report_failed(tmp_path):
    report = tmp_path / "report.xml"
    assert package_suites.read_report(report, "test_sums.py") == {"test_sums.py": "failed"}
    report.write_text("<testsuites>")
    assert package_suites.read_report(report, "test_sums.py") == {"test_sums.py": "failed"}


def test_each_listed_test_names_a_file_and_a_reason():
    for suite in tomllib.loads(package_suites.EXPECTED.read_text("utf-8")).values():
        for group in [*suite["failing"].values(), suite.get("alone", {}), suite.get("not_run", {})]:
            for name, reason in group.items():
                assert name.partition("::")[0].endswith(".py") and reason
