# SPDX-License-Identifier: Apache-2.0
"""The command ``doctor``, and the summary that is printed without a command."""

import json

from halfwarp.doctor import report, text


def doctor(arguments):
    """Examine everything and print the record; return 1 if there is a problem."""
    record = report.examine()
    print(json.dumps(record, indent=2) if arguments.json else text.page(record))
    return 0 if record["is_healthy"] else 1


def brief(_):
    """Print a summary; return 1 if there is a problem."""
    record = report.examine()
    print(text.brief(record))
    return 0 if record["is_healthy"] else 1
