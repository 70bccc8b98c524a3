# SPDX-License-Identifier: Apache-2.0
# Options arguments: an instance, a dict of its keywords, or None.


cdef object as_options(object given, object cls, str what):
    if given is None or isinstance(given, cls):
        return given
    if isinstance(given, dict):
        return cls(**given)
    raise TypeError(
        f"{what} must be provided as an object of type {cls.__name__} or as a dict of its "
        f"keywords, got {given!r}")


cdef object public_object(str name):
    return getattr(import_module("cuda.core"), name)


def check_or_create_options(cls, options, options_description="", keep_none=False):
    """An instance of `cls` for an instance, a dict of its keywords, or None. Host only."""
    if options is None:
        return None if keep_none else cls()
    return as_options(options, cls, options_description or f"{cls.__name__} options")
