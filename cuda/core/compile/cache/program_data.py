# SPDX-License-Identifier: Apache-2.0
"""The program data of a cached image: its symbols, its declarations and a checksum of the image.

The symbols are the mangled names of name expressions. Launches check their arguments with the
declarations. The data follows the image in its file (`entry.py`). A cache of a user has the data as
a separate entry, and folders of earlier versions have it as a separate file.
"""

import json
import zlib

MAGIC = b"halfwarp symbols 1"
CHECKED = 128 << 10  # maximum number of bytes of an image in its checksum


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
    rows = [[_kind(key), _text(key), _text(name)] for key, name in names.items()]
    table = json.dumps(rows).encode() if rows else b""
    sizes = (len(image), _checksum(image), len(table), len(declarations))
    return b"%s %d %d %d %d\n%s%s" % (MAGIC, *sizes, table, declarations)


def _kind(name):
    return "str" if isinstance(name, str) else "bytes"


def read(content, image):
    """Return the names and the declarations of an image; None if they belong to another image."""
    line, _, body = content.partition(b"\n")
    try:
        size, checksum, table, declarations = map(int, line.removeprefix(MAGIC).split(b" ")[1:])
        if size != len(image) or len(body) != table + declarations or not line.startswith(MAGIC):
            return None
        if checksum != _checksum(image):
            return None
        rows = json.loads(body[:table]) if table else ()
        names = {text if kind == "str" else _bytes(text): _bytes(name) for kind, text, name in rows}
    except (ValueError, TypeError, AttributeError):  # damaged, or from another version
        return None
    return names, body[table:]


def _checksum(image):
    """Return a checksum of an image, or of both ends of a large one, to detect truncation."""
    if len(image) <= CHECKED:
        return zlib.crc32(image)
    half = CHECKED // 2
    return zlib.crc32(image[-half:], zlib.crc32(image[:half]))


# Maps each byte to a character: JSON has no bytes, and names may not be UTF-8.
def _text(value):
    return value.decode("latin-1") if isinstance(value, bytes) else value


def _bytes(text):
    return text.encode("latin-1")
