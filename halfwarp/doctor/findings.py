# SPDX-License-Identifier: Apache-2.0
"""The findings of a probe: facts, and problems with a remedy for each."""

REPAIR = "halfwarp repair"
REINSTALL = "pip install --force-reinstall --no-deps halfwarp"
REBUILD = "python setup.py build_ext --inplace, in the source tree"


class Findings:
    """Filled by one probe; ``vars()`` of an instance can be written as JSON."""

    def __init__(self, facts=None, problems=None, warnings=None):
        self.facts = facts or {}
        self.problems = problems or []
        self.warnings = warnings or []

    def problem(self, text, remedy):
        """Add a problem, which makes the exit status 1."""
        self.problems.append({"what": text, "remedy": remedy})

    def warning(self, text, remedy):
        """Add a warning about a limitation or a possible mistake."""
        self.warnings.append({"what": text, "remedy": remedy})
