# SPDX-License-Identifier: Apache-2.0
"""What the doctor looks at: each module has a function ``probe(findings)``."""
