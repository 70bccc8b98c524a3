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
