# SPDX-License-Identifier: Apache-2.0
"""Emitters: each module here has `emit(libraries) -> {path below the root: text}`."""
