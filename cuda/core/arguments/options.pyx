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


def _options_as_bytes(options, dict rows not None):
    """What is set of the options of a compiler or linker, in the order of `rows`. Host only.

    `rows` is what `option_rows.table` makes. Each lookup in a program cache comes through here.
    """
    cdef dict fields = options.__dict__
    cdef list made = []
    cdef tuple row
    cdef Py_ssize_t latest = -1, place
    for field, value in fields.items():
        if value is None or (row := rows.get(field)) is None:
            continue
        place = row[0]
        if place < latest:
            break
        latest = place
        add_option(made, row[1], row[2], value)
    else:
        return made
    made = []  # of the few whose fields are in another order
    for field, row in rows.items():
        value = fields.get(field)
        if value is not None:
            add_option(made, row[1], row[2], value)
    return made


cdef int add_option(list made, object form, object flag, object value) except -1:
    if form == "value":
        made.append(<bytes>flag + option_text(value))
    elif form == "switch":
        if value:
            made.append(flag)
    elif form == "truth":
        made.append(<bytes>flag + (b"true" if value else b"false"))
    elif form == "each":
        for each in value if isinstance(value, (list, tuple)) else (value,):
            made.append(<bytes>flag + option_text(each))
    else:
        made += [text.encode() for text in form(flag, value)]
    return 0


cdef bytes option_text(object given):
    if type(given) is not str and isinstance(given, (os.PathLike, bytes)):
        given = os.fsdecode(given)
    return str(given).encode()


cdef void tell(str what, tuple values) noexcept:
    """Say what was done to who listens (`halfwarp.logs`); what that raises is printed."""
    if "logging" in sys.modules:
        getattr(import_module("halfwarp.logs"), what)(*values)
