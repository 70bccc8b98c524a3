# SPDX-License-Identifier: Apache-2.0
"""Checks of unusual values of options: their errors name the option."""

import operator


def _text(value):
    return f"got {value!r} ({type(value).__name__})"


def truth(name, value):
    """Return the truth of a value. An array has none, so it raises ValueError."""
    try:
        return bool(value)
    except (TypeError, ValueError) as error:
        cls = TypeError if isinstance(error, TypeError) else ValueError
        raise cls(f"{name} must be True or False, {_text(value)}") from error


def check_field(cls, name, value):
    """Check the truth of a field's value if the field has the annotation bool."""
    if str(cls.__annotations__.get(name)) in ("bool", "bool | None", "<class 'bool'>"):
        truth(f"{cls.__name__}.{name}", value)


def check_bools(options):
    """Raise TypeError for a field that is neither a bool nor None."""
    for name, value in vars(options).items():
        if value is not None and type(value) is not bool:
            raise TypeError(
                f"{type(options).__name__}.{name} must be True or False, {_text(value)}"
            )


def encoded(flag, text):
    """Return the text of a compiler option as UTF-8."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        error.reason += f" in the option {flag.decode()}"
        raise


def address(name, value):
    """Return an int of 64 bits; 0 for None."""
    if value is None:
        return 0
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an int, {_text(value)}") from None
    if not 0 <= number < 2**64:
        raise OverflowError(f"{name} must be from 0 to {2**64 - 1}, got {number}")
    return number


def members(name, values):
    """Return the members of an iterable of devices."""
    try:
        return tuple(values)
    except TypeError:
        raise TypeError(f"{name} must be an iterable of Device or int, {_text(values)}") from None
