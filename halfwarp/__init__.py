# SPDX-License-Identifier: Apache-2.0
"""The project's own package: version, ``halfwarp`` command, pytest plugin and repair.

No other distribution installs files here. ``cuda.*`` is imported only when needed, so that this
package works even if those packages are damaged.
"""

__version__ = "0.1.0"
