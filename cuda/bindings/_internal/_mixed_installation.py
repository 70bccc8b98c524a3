# SPDX-License-Identifier: Apache-2.0
"""The warning for NVIDIA's files among ours; imported only where there are some."""

import os
import sys
import warnings

IMPORTING = ("cuda.", "importlib", "_frozen_importlib")  # what is between a user and this
_is_told = False


def warn(path):
    """Say, once in a process, that another package was installed into these folders."""
    global _is_told
    if _is_told:
        return
    _is_told = True
    importer = sys._getframe(1)
    while importer.f_back and importer.f_globals.get("__name__", "").startswith(IMPORTING):
        importer = importer.f_back
    warnings.warn_explicit(
        f"{os.path.normpath(path)} is not part of halfwarp: NVIDIA's cuda-bindings or cuda-core "
        "was installed into the same folder, so that files of both are mixed; "
        "`halfwarp doctor` says which, and `halfwarp repair` puts ours back",
        UserWarning,
        importer.f_code.co_filename,
        importer.f_lineno,
    )
