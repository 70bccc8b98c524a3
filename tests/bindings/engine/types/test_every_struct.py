# SPDX-License-Identifier: Apache-2.0
"""Each struct of each module of codes: every field by its kind, copies, dicts, pickles, bytes.

A check goes over all structs of a module and says of each failure which struct it is.
"""

import copy
import ctypes
import importlib
import pickle
import re
from functools import cache

import pytest

from generator import libraries

from ....threads import has_lock

INTEGERS = {
    *("int", "unsigned int", "size_t", "unsigned long long", "unsigned char", "unsigned short"),
    *("long", "long long"),
}


def structs_of(library):
    return [s.name for s in library.structs if not s.view_only]


LIBRARIES = {n: lib for n, lib in libraries.load_all().items() if not lib.raises}


@cache
def records_of(*names):
    return {s.name: s for name in names for s in libraries.load(name).structs}


def records(library):
    """The structs that a module has or uses, by name."""
    return records_of(*library.uses, library.name)


@cache
class Struct:
    """A class, the records of its fields, and a value for each."""

    def __init__(self, library, name):
        self.library = LIBRARIES[library]
        self.module = importlib.import_module(f"{self.library.package}.{library}")
        self.cls = getattr(self.module, name)
        self.records = self.fields_of(name)
        self.is_union = any(s.is_union for s in self.chain(name))
        self.settable = [f for f in self.records if not f.readonly]

    def chain(self, name):
        """The record of a struct after those that it is a typedef of."""
        struct = records(self.library)[name]
        return [*(self.chain(struct.base.rpartition(".")[2]) if struct.base else []), struct]

    def fields_of(self, name):
        return [field for struct in self.chain(name) for field in struct.fields]

    def class_of(self, name):
        for module in (self.library, *self.library.uses.values()):
            home = importlib.import_module(f"{module.package}.{module.name}")
            if hasattr(home, name):
                return getattr(home, name)
        raise LookupError(name)

    def value(self, field):
        """Something to set that is not what a new struct holds."""
        shape, name = field.kind.shape, field.kind.element
        if shape == "enum":
            return list(self.class_of(name))[-1]
        if shape == "handle":
            return self.class_of(name)(1)
        if shape == "struct":
            return self.filled(self.class_of(name)) if self.is_made(name) else None
        if shape in ("voidp", "void**"):
            return 4096
        if shape == "kparams":
            return ((5,), (ctypes.c_int,))
        if shape == "text":
            return b"text"
        if shape == "bytes":
            return bytes(i % 100 + 1 for i in range(len(getattr(self.cls(), field.name))))
        if shape == "list":
            return [self.element(name)]
        if shape == "array":
            return [self.element(name) for _ in getattr(self.cls(), field.name)]
        return 1.5 if name in ("float", "double") else 1

    def is_made(self, name):
        try:
            self.class_of(name)()
        except TypeError:
            return False  # a part of a struct, which is never made alone
        return True

    @staticmethod
    def filled(cls):
        made = cls()
        if view := memoryview(made):
            view[0] = 1
        return made

    def element(self, name):
        if name in ("float", "double"):
            return 0.5
        try:
            cls = self.class_of(name)
        except LookupError:
            return 1
        return list(cls)[-1] if hasattr(cls, "__members__") else cls()


def plain(value):
    """What makes two values of a field the same."""
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, (int, float, bytes)):
        return value
    return int(value) if hasattr(type(value), "__int__") else bytes(value)


CHECKS = []


def check(function):
    CHECKS.append(function)
    return function


@check
def the_size_is_that_of_the_c_struct(struct):
    assert struct.module.sizeof(struct.cls) == len(bytes(struct.cls()))
    assert memoryview(struct.cls()).nbytes == len(bytes(struct.cls()))


@check
def each_field_holds_what_is_set_and_what_a_keyword_gives(struct):
    for field in struct.settable:
        value = struct.value(field)
        if value is None:
            continue
        made = struct.cls()
        setattr(made, field.name, value)
        given = struct.cls(**{field.name: value})
        if field.kind.shape == "kparams":
            assert getattr(made, field.name) and getattr(given, field.name)
        else:
            assert plain(getattr(made, field.name)) == plain(value), field.name
            assert plain(getattr(given, field.name)) == plain(value), field.name


@check
def what_a_field_refuses_is_told_by_its_name_and_changes_nothing(struct):
    made = struct.cls()
    memoryview(made)[:] = bytes(len(bytes(made)))  # some are not all zero when new
    for field in struct.records:
        refused = AttributeError if field.readonly else (TypeError, ValueError)
        for wrong in (object(), "text", 1.5j):
            with pytest.raises(refused) as caught:
                setattr(made, field.name, wrong)
            assert f"{field.name}" in str(caught.value)
            if not field.readonly:
                with pytest.raises(refused, match=rf"^{struct.cls.__name__}\.{field.name}: "):
                    struct.cls(**{field.name: wrong})
        with pytest.raises(AttributeError, match=field.name):
            delattr(made, field.name)
        assert not any(bytes(made)), field.name


@check
def the_representation_names_each_field(struct):
    lines = {line.split(" :")[0] for line in repr(struct.cls()).splitlines()}
    hidden = {f.name for f in struct.records} - set(dir(struct.cls()))
    assert {field.name for field in struct.records} - hidden <= lines
    assert all(re.fullmatch(r"(reserved|padding)\d*|unused|pad", name) for name in hidden)
    assert hidden.isdisjoint(lines)


@check
def a_copy_holds_the_same_and_is_independent(struct):
    made = struct.filled(struct.cls)
    for make in (struct.cls.copy, copy.copy, copy.deepcopy):
        other = make(made)
        assert type(other) is struct.cls and bytes(other) == bytes(made)
        memoryview(other)[0] = 2
        assert bytes(made)[:1] == b"\1"


@check
def a_dict_of_the_fields_makes_the_same_struct(struct):
    made = struct.cls()
    fields = made.asdict()
    assert list(fields) == [field.name for field in struct.records]
    numbers = {n: v for n, v in fields.items() if isinstance(v, (int, float))}
    settable = {field.name for field in struct.settable}
    again = struct.cls(**{n: v for n, v in numbers.items() if n in settable})
    assert bytes(again) == bytes(made)


@check
def a_pickle_holds_the_same(struct):
    made = struct.cls()
    for field in struct.settable:
        # what a union holds may be an address, which is not pickled
        if str(field.kind) in INTEGERS and not struct.is_union:
            setattr(made, field.name, 1)
    other = pickle.loads(pickle.dumps(made))
    assert type(other) is struct.cls and bytes(other) == bytes(made)


@check
def a_view_on_a_field_keeps_the_whole(struct):
    for field in struct.records:
        if field.kind.shape == "struct":
            made = struct.cls()
            child = getattr(made, field.name)
            assert (getattr(made, field.name) is child) == has_lock
            address, start = child.getPtr(), made.getPtr()
            assert start <= address < start + len(bytes(made))
            del made
            struct.cls()  # would take the memory of the first one
            assert child.getPtr() == address
            memoryview(child)[0] = 1
            assert bytes(child)[:1] == b"\1"


@check
def a_struct_at_an_address_is_a_view(struct):
    made = struct.cls()
    view = struct.cls(_ptr=made.getPtr())
    memoryview(made)[0] = 3
    assert bytes(view) == bytes(made) and view.getPtr() == made.getPtr()


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_of_every_struct(check, library):
    failures = {}
    for name in structs_of(LIBRARIES[library]):
        try:
            check(Struct(library, name))
        except (AssertionError, TypeError, ValueError, OverflowError, AttributeError) as error:
            failures[name] = f"{type(error).__name__}: {error}"
    assert failures == {}
