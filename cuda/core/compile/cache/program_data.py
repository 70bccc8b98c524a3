# SPDX-License-Identifier: Apache-2.0
"""The program data of a cached image: its symbols, its declarations and a checksum of the image.

The symbols are the mangled names of name expressions. Launches check their arguments with the
declarations. A cache of a user has the data as a separate entry, and folders of earlier versions
have it as a separate file. In the one file of an entry, the footer has the sizes (`entry.py`).
"""

import zlib

MAGIC = b"halfwarp symbols 1"
CHECKED_END = 64 << 10  # maximum number of bytes at each end of an image in its checksum


def pack(image, names, declarations):
    """Return the program data of an image.

    It has a line with sizes and the checksum, the names as JSON if any, and the declarations.

    Parameters
    ----------
    image : bytes
    names : dict
        Mapping from name expressions, str or bytes, to symbols, bytes.
    declarations : bytes
        PTX that declares the kernels' parameters; may be empty.
    """
    table = pack_names(names)
    sizes = (len(image), checksum_of(image), len(table), len(declarations))
    return b"%s %d %d %d %d\n%s%s" % (MAGIC, *sizes, table, declarations)


def pack_names(names):
    """Return the names as JSON; empty for none."""
    if not names:
        return b""
    import json  # takes 2 ms, and most programs have no names

    rows = [[_kind(key), _text(key), _text(name)] for key, name in names.items()]
    return json.dumps(rows).encode()


def names_of(table):
    """Return the names of `pack_names`; None for damaged ones."""
    import json

    try:
        rows = json.loads(table)
        return {text if kind == "str" else _bytes(text): _bytes(name) for kind, text, name in rows}
    except (ValueError, TypeError, AttributeError):
        return None


def _kind(name):
    return "str" if isinstance(name, str) else "bytes"


def read(content, image):
    """Return the names and the declarations of an image; None if they belong to another image."""
    line, _, body = content.partition(b"\n")
    try:
        size, checksum, table, declarations = map(int, line.removeprefix(MAGIC).split(b" ")[1:])
        if size != len(image) or len(body) != table + declarations or not line.startswith(MAGIC):
            return None
        if checksum != checksum_of(image):
            return None
    except ValueError:  # damaged, or from another version
        return None
    names = names_of(body[:table]) if table else {}
    return None if names is None else (names, body[table:])


def checksum_of(image, start=0):
    """Return a checksum of an image, or of both ends of a large one, to detect truncation."""
    end = max(CHECKED_END, len(image) - CHECKED_END)
    return zlib.crc32(image[end:], zlib.crc32(image[:CHECKED_END], start))


# Maps each byte to a character: JSON has no bytes, and names may not be UTF-8.
def _text(value):
    return value.decode("latin-1") if isinstance(value, bytes) else value


def _bytes(text):
    return text.encode("latin-1")
