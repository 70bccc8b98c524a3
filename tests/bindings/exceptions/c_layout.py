# SPDX-License-Identifier: Apache-2.0
"""Sizes of C types from the generator's facts, for memory that calls write through pointers."""

import re

SIZES = {
    "char": 1,
    "unsigned char": 1,
    "short": 2,
    "unsigned short": 2,
    "int": 4,
    "unsigned int": 4,
    "float": 4,
}
WORD = 8


class Layout:
    """Natural alignment, as on every supported platform."""

    def __init__(self, library):
        self.items = {getattr(i, "name", None) or i.tag: i for i in library.facts.types}
        self.enums = {name for e in library.enums for name in (e.name, e.c_name)}

    def size(self, c_type):
        return self.size_and_alignment(c_type)[0]

    def size_and_alignment(self, c_type):
        c_type = c_type.removeprefix("const ").strip()
        if "*" in c_type:
            return WORD, WORD
        if extents := re.findall(r"\[(\d+)\]", c_type):
            size, alignment = self.size_and_alignment(c_type.partition("[")[0])
            for extent in extents:
                size *= int(extent)
            return size, alignment
        if c_type in SIZES:
            return SIZES[c_type], SIZES[c_type]
        item = self.items.get(c_type)
        if item is None:
            return WORD, WORD  # the wide numbers
        if hasattr(item, "fields"):
            return self.record(item)
        if hasattr(item, "members") or item.word == "enum":
            return 4, 4
        return self.size_and_alignment(item.target)

    def record(self, record):
        at = widest = 0
        for field in record.fields:
            size, alignment = self.record(field.record) if field.record else (0, 1)
            if not field.record:
                size, alignment = self.size_and_alignment(field.c_type)
            for extent in re.findall(r"\[(\d+)\]", field.c_type) if field.record else ():
                size *= int(extent)
            if record.word.endswith("union"):
                at = max(at, size)
            else:
                at = -(-at // alignment) * alignment + size
            widest = max(widest, alignment)
        return -(-at // widest) * widest, widest
