# SPDX-License-Identifier: Apache-2.0
"""Queries: members in C that read the slots of a class, and other attributes by name."""

import gc
import inspect
import sys
import sysconfig
import weakref

import pytest
from cuda.bindings import driver
from cuda.bindings._low import new_query, query_property


class Slotted:
    __slots__ = ("handle",)


class Derived(Slotted):
    pass


class Plain:
    pass


class Computed:
    @property
    def handle(self):
        return 7


class Record:
    __slots__ = ("data",)


class Number(int):
    pass


def twice(value):
    return 2 * value


def power(value, exponent):
    return value**exponent


def declared(self, factor: int = 2):
    """The documentation."""
    return factor * self.handle


def getter(cls=None):
    """Return a getter of twice the handle, as an object of `cls` if there is one."""
    return new_query((declared, ("handle",), "twice", sys.modules[__name__], cls, "data"))


def with_handle(cls, value):
    result = cls()
    result.handle = value
    return result


class TestSource:
    def test_objects_of_all_classes_are_read_by_one_getter(self):
        get = getter()
        objects = [with_handle(cls, i) for i, cls in enumerate((Slotted, Derived, Plain), start=1)]
        for _ in range(2):  # the first round finds the slot
            assert [get(each) for each in objects] == [2, 4, 6]
        assert get(Computed()) == 14

    @pytest.mark.parametrize("cls", [Slotted, Derived, Plain])
    def test_a_missing_handle_raises(self, cls):
        get = getter()
        assert get(with_handle(Slotted, 1)) == 2
        with pytest.raises(AttributeError, match="handle"):
            get(cls())

    def test_a_deleted_handle_raises(self):
        get, one = getter(), with_handle(Slotted, 1)
        assert get(one) == 2
        del one.handle
        with pytest.raises(AttributeError, match="handle"):
            get(one)

    def test_an_attribute_of_the_handle_is_read(self):
        get = new_query((declared, ("handle",), "real"))
        assert get(with_handle(Slotted, 3)) == 3
        assert get(with_handle(Plain, 4)) == 4

    def test_members_of_several_classes_are_read_by_one_getter(self):
        records = ["text", driver.CUuuid(), driver.CUuuid(), Record()]
        get = new_query((declared, ("handle",), "bytes"))
        for record in records[1:3]:  # the second one uses what the first one found
            assert get(with_handle(Slotted, record)) == record.bytes
        for record in (records[0], records[3]):
            with pytest.raises(AttributeError, match="bytes"):
                get(with_handle(Slotted, record))

    def test_arguments_are_attributes_and_constants(self):
        get = new_query((declared, ("handle", 3), "power", sys.modules[__name__], None, ""))
        assert get(with_handle(Slotted, 2)) == 8
        with pytest.raises(AttributeError, match="handle"):
            get(Slotted())

    def test_a_replaced_function_is_called(self, monkeypatch):
        get = getter()
        assert get(with_handle(Slotted, 2)) == 4
        monkeypatch.setattr(sys.modules[__name__], "twice", lambda value: -value)
        assert get(with_handle(Slotted, 2)) == -2
        monkeypatch.delattr(sys.modules[__name__], "twice")
        with pytest.raises(AttributeError, match="twice"):
            get(with_handle(Slotted, 2))

    def test_a_module_without_names_raises(self):
        get = new_query((declared, ("handle",), "real", 3, None, ""))
        with pytest.raises(AttributeError, match="__dict__"):
            get(with_handle(Slotted, 2))


class TestOwnership:
    def test_a_query_retains_the_class_whose_slot_it_knows(self):
        cls = type("Owner", (), {"__slots__": ("handle",)})
        get, reference = getter(), weakref.ref(cls)
        assert get(with_handle(cls, 3)) == 6
        is_known = sysconfig.get_config_var("Py_GIL_DISABLED") != 1
        del cls
        gc.collect()
        assert (reference() is not None) is is_known
        del get
        gc.collect()
        assert reference() is None

    @pytest.mark.parametrize("cls", [None, Record])
    def test_a_call_retains_nothing(self, cls):
        get, owner = getter(cls), with_handle(Slotted, Number(3))
        watched = twice, owner, owner.handle, Record, sys.modules[__name__]
        for _ in range(3):  # finds slots and functions
            get(owner)
        before = [sys.getrefcount(each) for each in watched]
        for _ in range(100):
            get(owner)
        assert [sys.getrefcount(each) for each in watched] == before


class TestDeclaration:
    def test_a_call_with_arguments_reaches_the_declaration(self):
        get = getter()
        assert get(with_handle(Slotted, 5), 3) == get(with_handle(Slotted, 5), factor=3) == 15
        with pytest.raises(TypeError, match="missing 1 required positional argument: 'self'"):
            get()
        with pytest.raises(TypeError, match="unexpected keyword argument 'other'"):
            get(with_handle(Slotted, 5), other=3)

    def test_a_query_has_the_attributes_of_its_declaration(self):
        get = getter()
        assert (get.__name__, get.__doc__) == ("declared", "The documentation.")
        assert inspect.signature(get) == inspect.signature(declared)
        with pytest.raises(AttributeError, match="nothing"):
            print(get.nothing)

    def test_a_query_is_a_method_of_its_class(self):
        cls = type("Owner", (Slotted,), {"method": getter()})
        bound = with_handle(cls, 4).method
        assert (bound(), bound(3)) == (8, 12)
        assert inspect.ismethod(bound)
        assert inspect.isroutine(cls.method)


class TestProperty:
    def test_a_property_refuses_other_objects_and_values(self):
        cls = type("Owner", (Slotted,), {})
        cls.value = query_property(getter(), cls, "value")
        assert with_handle(cls, 4).value == 8
        assert inspect.isgetsetdescriptor(cls.value)
        assert cls.value.__doc__ == "The documentation."
        with pytest.raises(AttributeError):
            with_handle(cls, 4).value = 3
        with pytest.raises(TypeError):
            cls.value.__get__(with_handle(Slotted, 4))

    @pytest.mark.parametrize("wrong", [(declared, Slotted), (None, Slotted), (getter(), 5)])
    def test_other_objects_make_no_property(self, wrong):
        assert query_property(*wrong, "value") is None


class TestRecord:
    @pytest.mark.parametrize("cls", [Record, Plain])
    def test_the_value_is_in_the_target(self, cls):
        get = getter(cls)
        for value in (1, 2):
            record = get(with_handle(Slotted, value))
            assert type(record) is cls
            assert record.data == 2 * value


WRONG_PARTS = [
    (),
    (print, ("handle",)),
    (print, "handle", "name"),
    (print, (), "name"),
    (print, ("a", "b", "c", "d"), "name"),
    (print, (3,), "name"),
    (print, ("handle",), None),
    (print, ("handle",), 3, driver, None, "data"),
    (print, ("handle",), "name", driver, Slotted(), "data"),
    (print, ("handle",), "name", driver, Slotted, None),
    (print, ("handle",), "name", driver, None, "data", None),
]


@pytest.mark.parametrize("parts", WRONG_PARTS)
def test_wrong_parts_are_refused(parts):
    with pytest.raises(TypeError, match="are not the parts of a query"):
        new_query(parts)
