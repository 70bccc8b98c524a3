# SPDX-License-Identifier: Apache-2.0
"""The warning before CUDA objects are sent to a forked process."""

import multiprocessing
import sys
import warnings

_is_checked = False


def check_multiprocessing_start_method():
    """Warn once per process if multiprocessing forks child processes. Host only."""
    global _is_checked
    if _is_checked:
        return
    _is_checked = True
    method = multiprocessing.get_start_method(allow_none=True)
    is_forking_by_default = sys.platform == "linux" and sys.version_info < (3, 14)
    if method == "fork" or (method is None and is_forking_by_default):
        description = "'fork'" if method else "not set, which means 'fork' on this system"
        warnings.warn(
            f"the start method of multiprocessing is {description}: CUDA does not survive a fork, "
            "and using it in the child is undefined behavior; call "
            "multiprocessing.set_start_method('spawn') first",
            UserWarning,
            stacklevel=3,
        )


def reset_fork_warning():
    """Allow the next check to warn again. Host only."""
    global _is_checked
    _is_checked = False
