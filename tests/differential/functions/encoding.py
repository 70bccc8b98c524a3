# SPDX-License-Identifier: Apache-2.0
"""Outcomes of calls as plain lists, which are equal if two implementations behave alike."""

ADDRESSES = 2**32  # larger integers are treated as addresses
HEAPS = 2**24  # larger ones are in the heap of an interpreter at a fixed address
# Letters of the struct module -> their kind; the values show whether they are signed.
SORTS = dict.fromkeys("bhilqnBHILQNP", "int") | dict.fromkeys("efd", "float")


def outcome_of(call):
    """Return the result or the exception of a call."""
    try:
        return encode(call())
    except Exception as error:
        bases = [base.__name__ for base in type(error).__mro__]
        return ["raises", type(error).__name__, bases, getattr(error, "status", None)]


def encode(value):
    """Return the class, and the part of the value that does not depend on memory addresses."""
    name = type(value).__name__
    if isinstance(value, (list, tuple)):
        return [name, [encode(each) for each in value]]
    if isinstance(value, (bytes, bytearray)):
        return [name, len(value), bytes(value).partition(b"\0")[0].decode("latin-1")]
    if isinstance(value, int) and hasattr(value, "name"):
        return [name, value.name]
    if isinstance(value, int):
        return [name, "large" if is_address(abs(value)) else int(value)]
    if value is None or isinstance(value, (float, str)):
        return [name, repr(value)]
    if isinstance(value, type):
        return ["class", value.__name__]
    is_array = hasattr(type(value), "strides")
    if hasattr(value, "getPtr") or (hasattr(value, "ptr") and not is_array):
        return encode_object(name, value)
    if getattr(getattr(value, "dtype", None), "names", None):  # structs, as NumPy shows them
        columns = {field: outcome_of(lambda f=field: value[f]) for field in value.dtype.names}
        return ["structs", columns]
    if is_array:
        return encode_array(memoryview(value))
    return [name]


def encode_array(view):
    """Encode an array by its numbers, whichever class holds them. An empty array has no type."""
    sort = f"{SORTS.get(view.format, view.format)}{8 * view.itemsize}" if view.nbytes else "none"
    return ["array", sort, list(view.shape), encode(view.tolist())[1]]


def encode_object(name, value):
    """Encode a handle by whether it is null, and its value if small; a struct by its fields."""
    if hasattr(value, "getPtr") and hasattr(type(value), "__int__"):
        return [name, encode(int(value))[1]]
    return [name, {field: outcome_of(lambda f=field: getattr(value, f)) for field in fields(value)}]


def fields(value):
    return [
        name
        for name in dir(type(value))
        if name[0] != "_" and name != "ptr" and not callable(getattr(type(value), name))
    ]


def is_address(number):
    return number >= ADDRESSES or (number >= HEAPS and is_in_heap(number))


def is_in_heap(number):
    with open("/proc/self/maps") as maps:
        places = (line.partition(" ")[0].split("-") for line in maps if line.endswith("[heap]\n"))
        return any(int(start, 16) <= number < int(end, 16) for start, end in places)
