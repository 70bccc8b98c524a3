# SPDX-License-Identifier: Apache-2.0
"""The commands ``doctor`` and, without a command, the same in brief."""

import json
import sys

from cuda.core._doctor import report, text

USAGE = "usage: python -m cuda.core doctor [--json]"


def main(arguments):
    """Examine everything; 1 if there is a problem."""
    if arguments not in ([], ["--json"]):
        print(USAGE, file=sys.stderr)
        return 2
    found = report.examine()
    print(json.dumps(found, indent=2) if arguments else text.page(found))
    return 0 if found["is_healthy"] else 1


def brief(arguments):
    """A few lines of it; 1 if there is a problem."""
    found = report.examine()
    print(text.brief(found))
    return 0 if found["is_healthy"] else 1
