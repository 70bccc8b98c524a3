# SPDX-License-Identifier: Apache-2.0
"""``python -m cuda.core``: an alias of the command ``halfwarp``."""

import sys

from halfwarp.command_line import main

sys.exit(main())
