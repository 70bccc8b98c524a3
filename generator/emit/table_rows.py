# SPDX-License-Identifier: Apache-2.0
"""Arrays whose rows the records of a library refer to by index."""

from __future__ import annotations


class Rows:
    """The rows of one C++ array, numbered as they are added.

    Records hold these indices instead of addresses: the dynamic linker relocates each address, and
    copies its page, when the extension is loaded.
    """

    def __init__(self, c_type: str, name: str):
        self.c_type, self.name = c_type, name
        self.rows: list[str] = []
        self.places: dict[object, int] = {}

    def block(self, title: str, rows: list[str]) -> int:
        """Add consecutive rows. Returns the index of the first one."""
        first = len(self.rows)
        titles = [f"// {title}\n  "] + [""] * len(rows)
        self.rows += [title + row for title, row in zip(titles, rows, strict=False)]
        return first

    def once(self, key: object, row: str) -> int:
        """Add a row unless the key has one. Returns its index."""
        if key not in self.places:
            self.places[key] = self.block(str(key), [row])
        return self.places[key]

    def source(self) -> str:
        if not self.rows:
            return f"constexpr std::span<{self.c_type}> {self.name};\n"
        lines = "".join(f"  {row},\n" for row in self.rows)
        return f"constexpr {self.c_type} {self.name}[] = {{\n{lines}}};\n"
