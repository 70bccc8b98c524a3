# SPDX-License-Identifier: Apache-2.0
"""The command with which tests run pytest in another process."""

import sys

# The plugin of Hypothesis takes three quarters of the start of a process, and no such test uses it.
COMMAND = (sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:hypothesispytest")
