# SPDX-License-Identifier: Apache-2.0
"""``python -m halfwarp``: the command where the folder of scripts is not on the search path."""

import sys

from halfwarp.command_line import main

sys.exit(main())
