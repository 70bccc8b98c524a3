# SPDX-License-Identifier: Apache-2.0
"""The side file of a cached image: its symbols, and a checksum of the image.

The image is stored unchanged, so that other tools can read it. The side file has the mangled names
of name expressions, and the declarations with which launches check their arguments.
"""

import json
import zlib

MAGIC = b"halfwarp symbols 1"
CHECKED = 128 << 10  # maximum number of bytes of an image in its checksum


def pack(image, names, declarations):
    """Return the content of a side file.

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


def read(content, image, has_names):
    """Return the names and the declarations of an image.

    Without content (None), return empty ones unless names are required (`has_names`). Return None
    if the content belongs to another image, or if the image was never written and is all zeros.
    """
    if content is not None:
        return _unpack(content, image)
    return None if has_names or not image.strip(b"\0") else ({}, b"")


def _unpack(content, image):
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
