# SPDX-License-Identifier: Apache-2.0
"""Examples of the page on checkpoints."""

import os

from cuda.core import Device
from cuda.core.checkpoint import Process

Device().set_current()

# example: checkpoint.Process
process = Process(os.getpid())
print(process.state, process.pid)
