# SPDX-License-Identifier: Apache-2.0
"""``python -m cuda.core.emulation``."""

import sys

from cuda.core.emulation.command import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
