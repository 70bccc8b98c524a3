# SPDX-License-Identifier: Apache-2.0
"""SHA-256 of the interpreter, as long as that costs less time than to load OpenSSL."""

import sys
from importlib import import_module


def _own_hash():
    """Return the interpreter's own SHA-256, or None."""
    for name in ("_sha2", "_sha256"):  # since Python 3.12, and before
        try:
            return import_module(name).sha256
        except ImportError:
            continue
    return None


_slow = _own_hash()
_fast = None
# Bytes until `hashlib` pays: its import takes 3 ms, and it saves 1 us for each 100 bytes.
_left = 300_000


def sha256(data):
    """Return the hash of some bytes, with the methods of `hashlib.sha256`."""
    global _fast, _left
    if _fast is None:
        _left -= len(data) + 200
        if _left > 0 and _slow is not None and "hashlib" not in sys.modules:
            return _slow(data)
        from hashlib import sha256 as _fast
    return _fast(data)
