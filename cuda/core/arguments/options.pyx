# SPDX-License-Identifier: Apache-2.0
# Options arguments: an instance, a dict of its keywords, or None.

from cpython.unicode cimport PyUnicode_AsUTF8String


cdef object as_options(object value, object cls, str description):
    if value is None:
        return None
    if isinstance(value, dict):
        value = options_from_dict(value, cls)
    elif not isinstance(value, cls):
        raise TypeError(f"{description} must be provided as an object of type {cls.__name__} or as "
                        f"a dict of its keywords, got {shown(value)}")
    check_truths(value, cls)
    return value


cdef object option_checks():
    return import_module("cuda.core.arguments.option_checks")


cdef int check_truths(object options, object cls) except -1:
    """Check that each field with the annotation bool has a truth value."""
    cdef dict fields = getattr(options, "__dict__", {})
    for name in getattr(cls, "__slots__", fields):
        value = fields.get(name) if name in fields else getattr(options, name, None)
        if value is not None and not isinstance(value, (int, str)):
            option_checks().check_field(cls, name, value)


cdef object options_from_dict(dict value, object cls):
    try:
        return cls(**value)
    except TypeError as error:
        text = import_module("cuda.core.arguments.suggestions").unknown_option(cls, value)
        if text:
            raise TypeError(text) from None
        raise


cdef object public_object(str name):
    return getattr(import_module("cuda.core"), name)


cdef object sharing_module():
    return import_module("cuda.core._sharing")


cdef str qualified_name(object value):
    cls = type(value)
    return cls.__qualname__ if cls.__module__ == "builtins" else \
        f"{cls.__module__}.{cls.__qualname__}"


def check_or_create_options(cls, options, options_description="", keep_none=False):
    """Return an instance of `cls` for an instance, a dict of its keywords, or None. Host only."""
    if options is None:
        return None if keep_none else cls()
    return as_options(options, cls, options_description or f"{cls.__name__} options")


def _options_as_bytes(options, tuple table not None, first=None):
    """Return the set options of a compiler or linker, in the order of the rows. Host only.

    `option_rows.table` returns `table`. `first` returns the option of the first row if its field
    is None. Every lookup in a program cache calls this function.
    """
    cdef dict fields = PyObject_GenericGetDict(options, NULL)
    cdef dict rows = table[0]
    cdef list arguments = []
    cdef Py_ssize_t first_row = add_plain_options(arguments, fields, rows, table[1])
    if first_row < 0:
        arguments = options_of_rows(fields, rows)
        if first is not None and fields.get(table[2]) is not None:
            first = None
    if first is not None and first_row != 0:
        arguments.insert(0, first())
    return arguments


cdef list options_of_rows(dict fields, dict rows):
    cdef list arguments = []
    cdef list set_rows = rows_of_set_fields(fields, rows)
    cdef tuple row
    cdef Py_ssize_t i, last_position = -1, position
    for i in range(0, len(set_rows), 2):
        row = set_rows[i]
        position = row[0]
        if position < last_position:
            break
        last_position = position
        add_option(arguments, row[1], row[2], set_rows[i + 1])
    else:
        return arguments
    arguments = []  # slow path: the fields are in another order
    for field, row in rows.items():
        value = fields.get(field)
        if value is not None:
            add_option(arguments, row[1], row[2], value)
    return arguments


cdef Py_ssize_t add_plain_options(list arguments, dict fields, dict rows,
                                  tuple order) except -2:
    """Add all options if no conversion runs Python code and the fields have the order of the rows.

    Return the position of the first row with an option, the number of rows without options, and -1
    if the options need the slow path. `order` has the name and row of each field in the order of
    the class, so that most fields need no lookup.
    """
    cdef PyObject *field
    cdef PyObject *value
    cdef PyObject *row
    cdef Py_ssize_t at = 0, i = -2, last_position = -1, position, first_position = len(rows)
    with cython.critical_section(fields):
        while PyDict_Next(fields, &at, &field, &value):
            i += 2
            if value is <PyObject *>None:
                continue
            if i < len(order) and <PyObject *>order[i] is field:
                row = <PyObject *>order[i + 1]
            elif type(<object>field) is str:
                row = PyDict_GetItemWithError(rows, <object>field)
            else:
                return -1
            if row is NULL or row is <PyObject *>None:
                continue
            position = (<tuple>row)[0]
            form = (<tuple>row)[1]
            if position < last_position or type(form) is not str or \
                    not is_plain_option(<object>value):
                return -1
            if last_position < 0:
                first_position = position
            last_position = position
            option = <object>value  # a reference, since a finalizer may change the fields
            add_option(arguments, form, (<tuple>row)[2], option)
    return first_position


cdef inline bint is_plain_option(object value) noexcept:
    return type(value) is str or type(value) is bool or type(value) is int


cdef list rows_of_set_fields(dict fields, dict rows):
    """Return the row and the value of each field that is not None, one after the other.

    Most fields are None, and the iteration skips them without a reference.
    """
    cdef list set_rows = []
    cdef PyObject *field
    cdef PyObject *value
    cdef Py_ssize_t at = 0
    with cython.critical_section(fields):
        while PyDict_Next(fields, &at, &field, &value):
            if value is <PyObject *>None:
                continue
            name, option = <object>field, <object>value  # the comparison of names may run code
            append_row(set_rows, rows, name, option)
    return set_rows


cdef int append_row(list set_rows, dict rows, object field, object value) except -1:
    row = rows.get(field)
    if row is not None:
        set_rows.append(row)
        set_rows.append(value)


cdef int add_option(list arguments, object form, object flag, object value) except -1:
    """Add the options of a field. `form` is interned if it is a str."""
    if form is "value":
        arguments.append(option_text(flag, value))
    elif form is "switch":
        if value:
            arguments.append(flag)
    elif form is "truth":
        arguments.append(<bytes>flag + (b"true" if value else b"false"))
    elif form is "each":
        for each in value if isinstance(value, (list, tuple)) else (value,):
            arguments.append(option_text(flag, each))
    else:
        arguments += [utf8(text, "the options") for text in form(flag, value)]


cdef str exact_str(object text, str label):
    """Return the text of a str or of an instance of a subclass, such as `numpy.str_`."""
    if type(text) is str:
        return <str>text
    if not isinstance(text, str):
        raise TypeError(f"{label} must be a str, got {qualified_name(text)}")
    return str.__str__(text)


cdef bytes utf8(object text, str description):
    try:
        return PyUnicode_AsUTF8String(text)
    except UnicodeEncodeError as error:
        error.reason += f" in {description}"
        raise


cdef bytes option_text(bytes flag, object value):
    if type(value) is not str and isinstance(value, (os.PathLike, bytes)):
        value = os.fsdecode(value)
    cdef str text = exact_str(value if isinstance(value, str) else str(value), "an option")
    if not text.isascii():
        return flag + utf8(text, f"the option {flag.decode()}")
    cdef Py_ssize_t size, start = len(flag)
    cdef const char *content = PyUnicode_AsUTF8AndSize(text, &size)
    cdef bytes option = PyBytes_FromStringAndSize(NULL, start + size)
    memcpy(PyBytes_AS_STRING(option), PyBytes_AS_STRING(flag), <size_t>start)
    memcpy(PyBytes_AS_STRING(option) + start, content, <size_t>size)
    return option


cdef void notify_log(str function, tuple values) noexcept:
    """Call a function of `halfwarp.logs` if logging is imported. Prints exceptions."""
    if "logging" in sys.modules:
        getattr(import_module("halfwarp.logs"), function)(*values)
