# SPDX-License-Identifier: Apache-2.0
"""The content of an entry's file: an image, and the program data of a compilation behind it.

An image that a user stores is its file's whole content, as in NVIDIA's package. A compilation also
stores the symbols and the declarations with which launches check arguments. They follow the image,
so that tools can read it, and a footer with a checksum ends the file. One file cannot lose a part:
a truncated file has no footer, and a file of another key has another checksum.
"""

import struct
import zlib

from cuda.core.compile.cache.program_data import pack, read

MAGIC = b"halfwarp entry 2"
PLAIN = b"halfwarp plain 2"  # ends the file of a stored image that ends with one of the two
_footer = struct.Struct("<QL16s")  # length and checksum of the program data, MAGIC


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
    data = pack(image, names, declarations)
    return b"".join((image, data, _footer.pack(len(data), _checksum(data, digest), MAGIC)))


def plain_content(image):
    """Return the content of the file of a stored image."""
    return image + PLAIN if image.endswith((MAGIC, PLAIN)) else image


def split(digest, content):
    """Return the image, and the names and declarations as a pair, or None for a stored image.

    The image is None if the content is damaged or belongs to another entry.
    """
    if not content.endswith(MAGIC):
        return content.removesuffix(PLAIN), None
    end = len(content) - _footer.size
    if end < 0:
        return None, None
    length, checksum, _ = _footer.unpack_from(content, end)
    data = content[max(end - length, 0) : end]
    if len(data) != length or _checksum(data, digest) != checksum:
        return None, None
    image = content[: end - length]
    program = read(data, image)
    return (None, None) if program is None else (image, program)


def _checksum(data, digest):
    return zlib.crc32(data, zlib.crc32(digest.encode()))
