# SPDX-License-Identifier: Apache-2.0
"""Measure the coverage of a script, as ``coverage run`` does, and of its kernels."""

import sys

from halfwarp import coverage as kernels


def measure(run):
    """Run a script, save the data, print a report, and return the status of the script."""
    try:
        import coverage
    except ImportError:
        print("halfwarp emulate run --cov: install the package coverage", file=sys.stderr)
        return 2
    measurement = coverage.Coverage()
    measurement.start()
    kernels.start()
    try:
        status = run()
    finally:
        measurement.stop()
        measurement.save()
    for note in kernels.notes():
        print(f"halfwarp: {note}", file=sys.stderr)
    try:
        measurement.report(show_missing=True)
    except coverage.CoverageException as error:
        print(f"halfwarp emulate run --cov: {error}", file=sys.stderr)
        return status or 1
    return status
