# SPDX-License-Identifier: Apache-2.0
"""Warns of files of NVIDIA's packages in our folders; imported only if there are any."""

import os
import sys
import warnings

IMPORTING = ("cuda.", "importlib", "_frozen_importlib")  # modules between user code and this one
_is_warned = False


def warn(path):
    """Warn, once per process, that another package was installed into these folders."""
    global _is_warned
    if _is_warned:
        return
    _is_warned = True
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
