# SPDX-License-Identifier: Apache-2.0
"""The commands ``doctor`` and, without a command, the same in brief."""

import json

from halfwarp.doctor import report, text


def doctor(given):
    """Examine everything; 1 if there is a problem."""
    found = report.examine()
    print(json.dumps(found, indent=2) if given.json else text.page(found))
    return 0 if found["is_healthy"] else 1


def brief(_):
    """A few lines of it; 1 if there is a problem."""
    found = report.examine()
    print(text.brief(found))
    return 0 if found["is_healthy"] else 1
