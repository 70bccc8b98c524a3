# SPDX-License-Identifier: Apache-2.0
"""Mistakes in the use of cuda.core.system: a type checker reports exactly the marked lines."""

from cuda.core import system

device = system.Device(0)  # E: call-arg
text: str = system.get_num_devices()  # E: assignment
device.name = "x"  # E: misc
device.get_fan("0")  # E: arg-type
device.memory_info.nothing  # E: attr-defined
system.get_p2p_status(device, None, "read")  # E: arg-type
