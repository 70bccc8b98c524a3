# SPDX-License-Identifier: Apache-2.0
"""What is halfwarp's own: its version, the command ``halfwarp``, the pytest plugin, the repair.

No other distribution installs files here. Nothing of ``cuda.*`` is imported until it is asked for,
so that all of it works where those packages are damaged.
"""

__version__ = "0.1.0"
