# SPDX-License-Identifier: Apache-2.0
"""Values of users in messages."""


def shown(value: object) -> str:
    """Return a value for an error message: its repr, in one short line.

    An exception in the `__repr__` of a user's class must not replace the error.
    """
    try:
        text = " ".join(repr(value).split())
    except Exception as error:
        return f"<{type(value).__name__} whose repr raises {type(error).__name__}>"
    return text if len(text) <= 60 else text[:57] + "..."
