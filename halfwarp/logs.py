# SPDX-License-Identifier: Apache-2.0
"""Log messages about occasional events, for `logging`, under the name ``halfwarp``.

Does not import `logging`: a program that has not imported it has no handler.
"""

import sys

DEBUG, INFO = 10, 20  # levels of `logging`


def listener(level):
    """Return the logger if this level is enabled, else None."""
    logging = sys.modules.get("logging")
    if logging is None:
        return None
    logger = logging.getLogger("halfwarp")
    return logger if logger.isEnabledFor(level) else None


def note(level, text, *values):
    """Log one line if the level is enabled; only then `values` are formatted into `text`."""
    logger = listener(level)
    if logger is not None:
        logger.log(level, text, *values, stacklevel=3)


def note_compiled(backend, target, seconds, size):
    note(INFO, "compiled to %s by %s in %.1f ms: %d bytes", target, backend, 1e3 * seconds, size)


def note_linked(count, target, seconds, size):
    note(INFO, "linked %d inputs to %s in %.1f ms: %d bytes", count, target, 1e3 * seconds, size)


def note_cache(cache, key, is_hit):
    outcome = "found in" if is_hit else "not found in"
    note(DEBUG, "%s %s %s", key.hex()[:16], outcome, type(cache).__name__)


def note_pool(device, size, held):
    note(DEBUG, "pool of device %d grew by %d bytes to %d", device, size, held)


def note_library(library, path):
    note(INFO, "%s: opened %s", library, path)
