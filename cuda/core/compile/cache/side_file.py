# SPDX-License-Identifier: Apache-2.0
"""What a cache keeps beside an image: its symbols, and by what to know that it is whole.

The image itself is stored as it is, so that other tools read it. A text beside it has the mangled
names of name expressions, and the declarations by which launches check their arguments.
"""

import json
import zlib

MAGIC = b"halfwarp symbols 1"
CHECKED = 128 << 10  # bytes of an image that are read for its checksum, at most


def pack(image, names, declarations):
    """The text as bytes.

    A line with sizes and the checksum, the names as JSON where there are any, the declarations.

    Parameters
    ----------
    image : bytes
    names : dict
        From name expressions, str or bytes, to symbols, bytes.
    declarations : bytes
        PTX that tells the parameters of the kernels; may be empty.
    """
    rows = [[type(given).__name__, _text(given), _text(name)] for given, name in names.items()]
    table = json.dumps(rows).encode() if rows else b""
    sizes = (len(image), _checksum(image), len(table), len(declarations))
    return b"%s %d %d %d %d\n%s%s" % (MAGIC, *sizes, table, declarations)


def read(content, image, has_names):
    """The names and the declarations of an image.

    Without a text (None) there are none, for which names must not be needed (`has_names`). None
    where the text is not about this image, or where that was never written out and has zeros.
    """
    if content is not None:
        return _unpack(content, image)
    return None if has_names or not image.strip(b"\0") else ({}, b"")


def _unpack(content, image):
    line, _, rest = content.partition(b"\n")
    try:
        size, checksum, table, declarations = map(int, line.removeprefix(MAGIC).split(b" ")[1:])
        if size != len(image) or len(rest) != table + declarations or not line.startswith(MAGIC):
            return None
        if checksum != _checksum(image):
            return None
        rows = json.loads(rest[:table]) if table else ()
        names = {text if kind == "str" else _bytes(text): _bytes(name) for kind, text, name in rows}
    except (ValueError, TypeError, AttributeError):  # damaged, or of another version
        return None
    return names, rest[table:]


def _checksum(image):
    """Of all of it, or of both ends of a large one: what was cut off or never written shows."""
    if len(image) <= CHECKED:
        return zlib.crc32(image)
    half = CHECKED // 2
    return zlib.crc32(image[-half:], zlib.crc32(image[:half]))


# One character a byte: JSON has no bytes, and names need not be UTF-8.
def _text(given):
    return given.decode("latin-1") if isinstance(given, bytes) else given


def _bytes(text):
    return text.encode("latin-1")
