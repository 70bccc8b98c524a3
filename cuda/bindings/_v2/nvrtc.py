# SPDX-License-Identifier: Apache-2.0
"""The runtime compiler in Python's ways: functions return their outputs and raise where they fail.

Handles and addresses are ints, source and options bytes. The package's name is provisional.
"""

from cuda.bindings._low import fill as _fill

_fill(__name__)
