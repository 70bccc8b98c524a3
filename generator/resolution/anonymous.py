# SPDX-License-Identifier: Apache-2.0
"""Names of anonymous types: `anon_struct<N>`, `anon_union<N>`, counted per kind in header order."""

from __future__ import annotations

from collections import Counter


class Numbering:
    def __init__(self):
        self.seen: Counter[str] = Counter()

    def next(self, word: str) -> str:
        name = f"anon_{word}{self.seen[word]}"
        self.seen[word] += 1
        return name
