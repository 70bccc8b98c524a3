# SPDX-License-Identifier: Apache-2.0
"""``python -m halfwarp``: the command for when the script folder is not on the search path."""

import sys

from halfwarp.command_line import main

sys.exit(main())
