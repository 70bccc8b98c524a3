# SPDX-License-Identifier: Apache-2.0
"""Each struct of each module of codes: every field by its kind, copies, dicts, pickles, bytes.

A check covers all structs of a module and names the struct of each failure.
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
    """Return the structs that a module defines or uses, by name."""
    return records_of(*library.uses, library.name)


@cache
class Struct:
    """A class, the records of its fields, and a value for each field."""

    def __init__(self, library, name):
        self.library = LIBRARIES[library]
        self.module = importlib.import_module(f"{self.library.package}.{library}")
        self.cls = getattr(self.module, name)
        self.records = self.fields_of(name)
        self.is_union = any(s.is_union for s in self.chain(name))
        self.settable = [f for f in self.records if f.is_settable]

    def chain(self, name):
        """Return the records of the base structs of a typedef, then the record itself."""
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
        """Return a value that differs from a new struct's."""
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
            return False  # a part of a struct, which is never created alone
        return True

    @staticmethod
    def filled(cls):
        instance = cls()
        if view := memoryview(instance):
            view[0] = 1
        return instance

    def element(self, name):
        if name in ("float", "double"):
            return 0.5
        try:
            cls = self.class_of(name)
        except LookupError:
            return 1
        return list(cls)[-1] if hasattr(cls, "__members__") else cls()


def plain(value):
    """Convert a field's value to a form that can be compared."""
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
def each_field_holds_values_set_by_attribute_or_keyword(struct):
    for field in struct.settable:
        value = struct.value(field)
        if value is None:
            continue
        instance = struct.cls()
        setattr(instance, field.name, value)
        from_keyword = struct.cls(**{field.name: value})
        if field.kind.shape == "kparams":
            assert getattr(instance, field.name) and getattr(from_keyword, field.name)
        else:
            assert plain(getattr(instance, field.name)) == plain(value), field.name
            assert plain(getattr(from_keyword, field.name)) == plain(value), field.name


@check
def a_refused_value_is_reported_by_field_name_and_changes_nothing(struct):
    instance = struct.cls()
    memoryview(instance)[:] = bytes(len(bytes(instance)))  # some are not all zero when new
    for field in struct.records:
        refused = (TypeError, ValueError) if field.is_settable else AttributeError
        for wrong in (object(), "text", 1.5j):
            with pytest.raises(refused) as caught:
                setattr(instance, field.name, wrong)
            assert f"{field.name}" in str(caught.value)
            if field.is_settable:
                with pytest.raises(refused, match=rf"^{struct.cls.__name__}\.{field.name}: "):
                    struct.cls(**{field.name: wrong})
        with pytest.raises(AttributeError, match=field.name):
            delattr(instance, field.name)
        assert not any(bytes(instance)), field.name


@check
def the_representation_names_each_field(struct):
    lines = {line.split(" :")[0] for line in repr(struct.cls()).splitlines()}
    hidden = {f.name for f in struct.records} - set(dir(struct.cls()))
    assert {field.name for field in struct.records} - hidden <= lines
    assert all(re.fullmatch(r"(reserved|padding)\d*|unused|pad", name) for name in hidden)
    assert hidden.isdisjoint(lines)


@check
def a_copy_holds_the_same_and_is_independent(struct):
    instance = struct.filled(struct.cls)
    for make in (struct.cls.copy, copy.copy, copy.deepcopy):
        other = make(instance)
        assert type(other) is struct.cls and bytes(other) == bytes(instance)
        memoryview(other)[0] = 2
        assert bytes(instance)[:1] == b"\1"


@check
def a_dict_of_the_fields_creates_an_equal_struct(struct):
    instance = struct.cls()
    fields = instance.asdict()
    assert list(fields) == [field.name for field in struct.records]
    numbers = {n: v for n, v in fields.items() if isinstance(v, (int, float))}
    settable = {field.name for field in struct.settable}
    rebuilt = struct.cls(**{n: v for n, v in numbers.items() if n in settable})
    assert bytes(rebuilt) == bytes(instance)


@check
def a_pickle_holds_the_same_values(struct):
    instance = struct.cls()
    for field in struct.settable:
        # a union may hold an address, which cannot be pickled
        if str(field.kind) in INTEGERS and not struct.is_union:
            setattr(instance, field.name, 1)
    other = pickle.loads(pickle.dumps(instance))
    assert type(other) is struct.cls and bytes(other) == bytes(instance)


@check
def a_view_on_a_field_retains_the_parent(struct):
    for field in struct.records:
        if field.kind.shape == "struct":
            instance = struct.cls()
            child = getattr(instance, field.name)
            assert (getattr(instance, field.name) is child) == has_lock
            address, start = child.getPtr(), instance.getPtr()
            assert start <= address < start + len(bytes(instance))
            del instance
            struct.cls()  # would reuse the memory of the first struct
            assert child.getPtr() == address
            memoryview(child)[0] = 1
            assert bytes(child)[:1] == b"\1"


@check
def a_struct_at_an_address_is_a_view(struct):
    instance = struct.cls()
    view = struct.cls(_ptr=instance.getPtr())
    memoryview(instance)[0] = 3
    assert bytes(view) == bytes(instance) and view.getPtr() == instance.getPtr()


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_every_struct(check, library):
    failures = {}
    for name in structs_of(LIBRARIES[library]):
        try:
            check(Struct(library, name))
        except (AssertionError, TypeError, ValueError, OverflowError, AttributeError) as error:
            failures[name] = f"{type(error).__name__}: {error}"
    assert failures == {}


@pytest.mark.parametrize("library", LIBRARIES)
def test_attributes_of_a_subclass_are_aligned(library):
    """They follow the struct: CPython stores pointers there."""
    for name in structs_of(LIBRARIES[library]):
        cls = getattr(importlib.import_module(f"{LIBRARIES[library].package}.{library}"), name)
        assert cls.__basicsize__ % ctypes.alignment(ctypes.c_void_p) == 0, name
