# SPDX-License-Identifier: Apache-2.0
"""What the package does now and then, for `logging`, under the name ``halfwarp``.

A program that has not imported `logging` cannot listen, so it is not imported here.
"""

import sys

DEBUG, INFO = 10, 20  # as `logging` has them


def listener(level):
    """The logger, where somebody listens at this level; else None."""
    logging = sys.modules.get("logging")
    if logging is None:
        return None
    logger = logging.getLogger("halfwarp")
    return logger if logger.isEnabledFor(level) else None


def note(level, text, *values):
    """One line, if somebody listens; `values` are put into `text` then."""
    logger = listener(level)
    if logger is not None:
        logger.log(level, text, *values, stacklevel=3)


def note_compiled(backend, target, seconds, size):
    note(INFO, "compiled to %s by %s in %.1f ms: %d bytes", target, backend, 1e3 * seconds, size)


def note_linked(count, target, seconds, size):
    note(INFO, "linked %d inputs to %s in %.1f ms: %d bytes", count, target, 1e3 * seconds, size)


def note_cache(cache, key, is_hit):
    what = "found in" if is_hit else "not found in"
    note(DEBUG, "%s %s %s", key.hex()[:16], what, type(cache).__name__)


def note_pool(device, size, held):
    note(DEBUG, "pool of device %d grew by %d bytes to %d", device, size, held)


def note_library(library, what):
    note(INFO, "%s: opened %s", library, what)
