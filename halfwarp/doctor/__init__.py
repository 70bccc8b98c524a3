# SPDX-License-Identifier: Apache-2.0
"""``halfwarp doctor``: examines the installation and suggests a remedy for each problem.

Each probe runs in its own process, so that a crash or hang affects no other. `apart` starts the
process, `inside` runs in it. `relations` compares the findings, and `text` formats them.
"""
