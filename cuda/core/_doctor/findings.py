# SPDX-License-Identifier: Apache-2.0
"""What a probe found: facts, and what is wrong with a remedy for each."""

from dataclasses import dataclass, field

REINSTALL = "pip install --force-reinstall --no-deps halfwarp"
REBUILD = "python setup.py build_ext --inplace, in the source tree"


@dataclass
class Findings:
    """Filled by one probe. All of it can be written as JSON."""

    facts: dict = field(default_factory=dict)
    problems: list = field(default_factory=list)
    warnings: list = field(default_factory=list)

    def problem(self, what, remedy):
        """Something does not work: the exit status becomes 1."""
        self.problems.append({"what": what, "remedy": remedy})

    def warning(self, what, remedy):
        """Something works less well than it could, or may be a mistake."""
        self.warnings.append({"what": what, "remedy": remedy})
