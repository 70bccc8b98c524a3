# SPDX-License-Identifier: Apache-2.0
"""The content of an entry's file: an image, and the program data of a compilation behind it.

An image that a user stores is its file's whole content, as in NVIDIA's package. A compilation also
stores the symbols and the declarations with which launches check arguments. They follow the image,
so that tools can read it, and a footer with the sizes and a checksum ends the file. One file cannot
lose a part: a truncated file has no footer, and a file of another key has another checksum.
"""

import struct
import zlib

from cuda.core.compile.cache.program_data import checksum_of, names_of, pack_names

MAGIC = b"halfwarp entry 3"
EARLIER = b"halfwarp entry 2"  # the keys of such entries have another version too
PLAIN = b"halfwarp plain 2"  # ends the file of a stored image that ends with one of the three
_ENDINGS = (MAGIC, EARLIER, PLAIN)
_footer = struct.Struct("<QQQL")  # sizes of image, names, declarations; checksum; before MAGIC
_FOOTER_SIZE = _footer.size + len(MAGIC)
_read_footer = _footer.unpack_from


def program_content(digest, image, names, declarations):
    """Return the content of the file of a compiled image.

    Parameters
    ----------
    digest : str
        Name of the entry.
    image : bytes
    names : dict
        Mapping from name expressions, str or bytes, to symbols, bytes.
    declarations : bytes
        PTX that declares the kernels' parameters; may be empty.
    """
    table = pack_names(names)
    checksum = _checksum(digest, image, table + declarations)
    footer = _footer.pack(len(image), len(table), len(declarations), checksum)
    return b"".join((image, table, declarations, footer, MAGIC))


def plain_content(image):
    """Return the content of the file of a stored image."""
    return image + PLAIN if image.endswith(_ENDINGS) else image


def split(digest, content, is_checked=False):
    """Return the image, and the names and declarations as a pair, or None for a stored image.

    The image is None if the content is damaged or belongs to another entry. The checksum of content
    that was checked before is not computed.
    """
    if not content.endswith(MAGIC):
        if content.endswith(EARLIER):
            return None, None
        return content.removesuffix(PLAIN), None
    end = len(content) - _FOOTER_SIZE
    if end < 0:
        return None, None
    size, table, declarations, checksum = _read_footer(content, end)
    if size + table + declarations != end:
        return None, None
    image = content[:size]
    data = content[size:end]
    if not is_checked and _checksum(digest, image, data) != checksum:
        return None, None
    names = names_of(data[:table]) if table else {}
    return (None, None) if names is None else (image, (names, data[table:]))


def _checksum(digest, image, data):
    checksum = checksum_of(image, zlib.crc32(digest.encode()))
    return zlib.crc32(data, checksum) if data else checksum
