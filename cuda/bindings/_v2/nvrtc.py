# SPDX-License-Identifier: Apache-2.0
"""The run-time compiler, Pythonic: functions return their outputs and raise on failure.

Handles and addresses are ints, source and options are bytes. The package name is provisional.
"""

from cuda.bindings._low import fill as _fill

_fill(__name__)
