# SPDX-License-Identifier: Apache-2.0
"""Folders of earlier versions, which have the program data of an image in a file of its own.

``entries/<2 hex>/<62 hex>`` is the image there, and the same path below ``symbols`` its program
data. The cache reads the two files of an entry once, and writes them as one file.
"""

import os

from cuda.core.compile.cache.entry_files import EntryFiles, UseClock
from cuda.core.compile.cache.program_data import read


class EarlierPrograms:
    """The folder ``symbols`` of a cache, if an earlier version created it."""

    def __init__(self, root):
        folder = os.path.join(root, "symbols")
        self._files = EntryFiles(root, "symbols", UseClock()) if os.path.isdir(folder) else None

    def read(self, digest, image):
        """Return names and declarations that belong to an image, or None."""
        content = self._files and self._files.read(digest)[0]
        return None if content is None else read(content, image)

    def remove(self, digest):
        if self._files:
            self._files.remove(digest)

    def remove_all(self):
        if self._files:
            self._files.remove_all()
