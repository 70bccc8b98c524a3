# SPDX-License-Identifier: Apache-2.0
"""The doctor's probes: each module has a function ``probe(findings)``."""
