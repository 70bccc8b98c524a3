# SPDX-License-Identifier: Apache-2.0
"""Boolean environment variables."""


def envvar_bool(name: str, default: bool = False) -> bool:
    """Whether an environment variable is true. Host only.

    Empty, 0, ``false``, ``no`` and ``off`` in any case are false. Any other value is true.
    """
    import os

    text = os.environ.get(name)
    if text is None:
        return default
    text = text.strip().lower()
    return bool(text.lstrip("0")) and text not in ("false", "no", "off")
