# SPDX-License-Identifier: Apache-2.0
"""What a probe found: facts, and what is wrong with a remedy for each."""

REPAIR = "halfwarp repair"
REINSTALL = "pip install --force-reinstall --no-deps halfwarp"
REBUILD = "python setup.py build_ext --inplace, in the source tree"


class Findings:
    """Filled by one probe. ``vars()`` of it can be written as JSON."""

    def __init__(self, facts=None, problems=None, warnings=None):
        self.facts = facts or {}
        self.problems = problems or []
        self.warnings = warnings or []

    def problem(self, what, remedy):
        """Something does not work: the exit status becomes 1."""
        self.problems.append({"what": what, "remedy": remedy})

    def warning(self, what, remedy):
        """Something works less well than it could, or may be a mistake."""
        self.warnings.append({"what": what, "remedy": remedy})
