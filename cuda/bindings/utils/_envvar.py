# SPDX-License-Identifier: Apache-2.0
"""Switches in the environment."""


def envvar_bool(name: str, default: bool = False) -> bool:
    """Whether an environment variable is switched on. Host only.

    Off are: empty, 0, ``false``, ``no`` and ``off`` in any case. All else is on.
    """
    import os

    text = os.environ.get(name)
    if text is None:
        return default
    text = text.strip().lower()
    return bool(text.lstrip("0")) and text not in ("false", "no", "off")
