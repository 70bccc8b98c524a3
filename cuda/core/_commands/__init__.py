# SPDX-License-Identifier: Apache-2.0
"""What `python -m cuda.core COMMAND` and `python -m cuda.core.emulation` run."""
