# SPDX-License-Identifier: Apache-2.0
"""Checks of unusual values of options: their errors name the option."""

from cuda.core.arguments.shown import shown


def _text(value):
    return f"got {shown(value)} ({type(value).__name__})"


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
    for name in options.__match_args__:
        value = getattr(options, name)
        if value is not None and type(value) is not bool:
            raise TypeError(
                f"{type(options).__name__}.{name} must be True or False, {_text(value)}"
            )


def members(name, values):
    """Return the members of an iterable of devices."""
    try:
        return tuple(values)
    except TypeError:
        raise TypeError(f"{name} must be an iterable of Device or int, {_text(values)}") from None


def device(name, value):
    """Return the Device of an option's value; the errors name the option."""
    from cuda.core import Device

    if not isinstance(value, Device) and not hasattr(type(value), "__index__"):
        raise TypeError(f"{name} must be a Device or an int, {_text(value)}")
    try:
        return Device(value)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{name}: {error}") from None
